/**
 * The answer to a balancer's health check on a port of its own (HAProxy's agent-check): the share of work that this
 * node is to get. One line for each connection: `up ready NN%`, or `drain`, which begins before the node refuses
 * anything.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Timers } from '../../timers.js';

/** Used share from which on other nodes get the work; this node still takes requests that come. */
const NEARLY_FULL = 0.95;

/**
 * Balancers ask once a second in the shipped configuration. After this time each has asked, and acted on the answer.
 */
export const NOTICE_MS = 3000;

/** A client that has not read a line by then never will. */
const ANSWER_MS = 2000;

const MOST_SOCKETS = 64;

export interface AgentCheckOptions {
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** Seconds of audio. */
  backlog: () => { backlogSeconds: number; maxBacklogSeconds: number };
  /** Of what live sessions may take of the machine, the part that is free: from 0 to 1. */
  liveRoom: () => number;
  timers: Timers;
}

export interface AgentCheck {
  readonly port: number;
  /** Answers `drain` from now on; resolves when the balancers have read it. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

export async function startAgentCheck(options: AgentCheckOptions): Promise<AgentCheck> {
  let leaving = false;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const timer = options.timers.after(ANSWER_MS, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      timer.cancel();
      sockets.delete(socket);
    });
    socket.resume();
    socket.end(`${leaving ? 'drain' : stateOf(options)}\n`);
  });
  server.maxConnections = MOST_SOCKETS;
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    port: (server.address() as AddressInfo).port,
    leave: () => {
      leaving = true;
      return new Promise((resolve) => void options.timers.after(NOTICE_MS, resolve));
    },
    close,
  };
}

/** `ready` takes an earlier `drain` back. */
function stateOf({ backlog, liveRoom }: AgentCheckOptions): string {
  const { backlogSeconds, maxBacklogSeconds } = backlog();
  const used = Math.max(backlogSeconds / maxBacklogSeconds, 1 - liveRoom());
  return used >= NEARLY_FULL ? 'drain' : `up ready ${Math.max(1, Math.round(100 * (1 - used)))}%`;
}
