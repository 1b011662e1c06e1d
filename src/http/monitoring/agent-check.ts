/**
 * What a balancer asks this node on a port of its own (HAProxy's agent-check): how much of its work it is to get. A
 * line a connection: `up ready NN%`, or `drain` from before the node refuses anything.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Timers } from '../../timers.js';

/** Of what the backlog may hold; from there on others get the work, while the node still takes what comes. */
const NEARLY_FULL = 0.95;

/**
 * Balancers ask once a second, as the shipped configuration has it; each has asked, and acted on the answer, when this
 * is over.
 */
export const NOTICE_MS = 3000;

/** Who has not taken a line by then never will. */
const ANSWER_MS = 2000;

const MOST_SOCKETS = 64;

export interface AgentCheckOptions {
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** Seconds of audio. */
  backlog: () => { backlogSeconds: number; maxBacklogSeconds: number };
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
    socket.end(`${leaving ? 'drain' : stateOf(options.backlog())}\n`);
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
function stateOf({ backlogSeconds, maxBacklogSeconds }: ReturnType<AgentCheckOptions['backlog']>): string {
  const used = backlogSeconds / maxBacklogSeconds;
  return used >= NEARLY_FULL ? 'drain' : `up ready ${Math.max(1, Math.round(100 * (1 - used)))}%`;
}
