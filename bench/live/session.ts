/** One live session: feeds a track at the speed of speech, and notes when each result came. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { LiveProtocol, LiveAnswer } from './protocols.js';

/** Audio of one message. */
export const PIECE_SECONDS = 0.1;
/** For the results behind the last audio. */
const PATIENCE_MS = 30_000;

/** Times are in milliseconds of performance.now(). */
export interface TimedResult {
  at: number;
  answer: LiveAnswer;
}

export interface FedSession {
  /** Of each piece, when it was handed to the socket. */
  sentAt: number[];
  /** Of each piece, how much later than planned: what the measuring program itself was late. */
  lateMs: number[];
  results: TimedResult[];
  /** Whether all results had come. */
  isComplete: boolean;
}

/** The server did not take the session. */
export class SessionRefused extends Error {
  constructor(readonly status: number) {
    super(`The server refused a session with status ${status}.`);
  }
}

/** Rejects with SessionRefused, or with the socket's error. `samples`: at the rate of the protocol. */
export async function openSession(baseUrl: string, protocol: LiveProtocol): Promise<WebSocket> {
  const url = new URL(protocol.path, baseUrl.replace(/^http/, 'ws'));
  const socket = new WebSocket(url, { headers: { authorization: protocol.authorization }, perMessageDeflate: false });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', reject);
    socket.once('unexpected-response', (request, response) => {
      reject(new SessionRefused(response.statusCode ?? 0));
      request.destroy();
    });
  });
  // What happens later shows in the results.
  socket.on('error', () => undefined);
  return socket;
}

/** `samples`: at the rate of the protocol. */
export async function feedSession(socket: WebSocket, protocol: LiveProtocol, samples: Int16Array): Promise<FedSession> {
  const fed: FedSession = { sentAt: [], lateMs: [], results: [], isComplete: false };
  const control = new AbortController();
  const state = { isLast: false, isDone: false };
  const ended = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      for (const answer of protocol.read(data.toString('utf8'))) {
        fed.results.push({ at: performance.now(), answer });
        state.isDone = answer.kind === 'done' || (state.isDone && answer.kind !== 'speech started');
        if (state.isDone && state.isLast) resolve();
      }
    });
    socket.once('close', () => {
      control.abort();
      resolve();
    });
  });
  for (const message of protocol.opening) socket.send(message);
  await feed(socket, protocol, { samples, fed, signal: control.signal });
  state.isLast = true;
  if (protocol.closing !== null && socket.readyState === socket.OPEN) socket.send(protocol.closing);
  // Silence without an answer on its way: nothing more comes.
  const patience = sleep(state.isDone && protocol.closing === null ? 1000 : PATIENCE_MS, undefined, { ref: false });
  await Promise.race([ended, patience]);
  fed.isComplete = state.isDone;
  if (socket.readyState !== socket.CLOSED) {
    socket.close();
    await Promise.race([once(socket, 'close'), sleep(1000)]);
  }
  return fed;
}

async function feed(
  socket: WebSocket,
  protocol: LiveProtocol,
  { samples, fed, signal }: { samples: Int16Array; fed: FedSession; signal: AbortSignal },
): Promise<void> {
  const length = Math.round(PIECE_SECONDS * protocol.rate);
  const begun = performance.now();
  for (let piece = 0; piece * length < samples.length && !signal.aborted; piece++) {
    // A microphone has a piece when all of it was spoken.
    const due = begun + (piece + 1) * PIECE_SECONDS * 1000;
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    const part = samples.subarray(piece * length, (piece + 1) * length);
    const now = performance.now();
    fed.sentAt.push(now);
    fed.lateMs.push(now - due);
    if (socket.readyState === socket.OPEN) {
      socket.send(protocol.audio(Buffer.from(part.buffer, part.byteOffset, part.byteLength)));
    }
  }
}
