/** One message to one URL: to an address that was checked, never redirected, limited in time and in bytes read. */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Timers } from '../timers.js';
import type { AddressGuard } from './addresses.js';
import { hostOf, refusedAddress } from './target.js';

/** From the look-up of the name to the end of the answer. */
export const ATTEMPT_MS = 15_000;
/**
 * Bytes of the answer that are read. Nobody uses them, but reading a short answer to its end lets the connection close
 * cleanly.
 */
const MOST_ANSWER_BYTES = 65_536;

export interface WebhookMessage {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** null: taken. `final`: no further attempt will help. */
export type SendProblem = { problem: string; final: boolean } | null;

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

const systemResolve: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

export interface SenderOptions {
  guard: AddressGuard;
  timers: Timers;
  /** Default: the system's. */
  resolve?: Resolve;
}

export class WebhookSender {
  constructor(private readonly options: SenderOptions) {}

  /** Never rejects, but with the signal's reason. */
  async send(message: WebhookMessage, signal: AbortSignal): Promise<SendProblem> {
    const { timers } = this.options;
    const deadline = new AbortController();
    const late = new Error(`It took longer than ${ATTEMPT_MS / 1000} s.`);
    const timer = timers.after(ATTEMPT_MS, () => deadline.abort(late));
    try {
      return judged(await this.#post(message, AbortSignal.any([signal, deadline.signal])));
    } catch (error) {
      signal.throwIfAborted();
      const { message: problem } = deadline.signal.aborted ? late : (error as Error);
      return { problem, final: false };
    } finally {
      timer.cancel();
    }
  }

  /** The status of the answer. */
  async #post({ url, headers, body }: WebhookMessage, signal: AbortSignal): Promise<number> {
    const target = new URL(url);
    const addresses = await unlessAborted(this.#addressesOf(target), signal);
    const bytes = Buffer.from(body);
    const options: RequestOptions = {
      method: 'POST',
      // A connection of its own, closed behind the answer.
      agent: false,
      signal,
      lookup: onlyThese(addresses),
      headers: { ...headers, 'Content-Length': bytes.length, Connection: 'close' },
    };
    return new Promise((resolve, reject) => {
      const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
      const request = send(target, options, (answer) => {
        drain(answer, () => resolve(answer.statusCode ?? 0));
      });
      request.on('error', reject);
      request.end(bytes);
    });
  }

  /** Those that may be connected to, of the name or the address in the URL. */
  async #addressesOf(url: URL): Promise<LookupAddress[]> {
    const { guard, resolve = systemResolve } = this.options;
    const host = hostOf(url);
    const family = isIP(host);
    const found = family === 0 ? await resolve(host) : [{ address: host, family }];
    const permitted = found.filter(({ address }) => guard.permits(address, host));
    if (permitted.length === 0) throw new Error(refusedAddress(host));
    return permitted;
  }
}

/**
 * Answers every lookup of the name with the addresses that were found and checked before: it may resolve to something
 * else now.
 */
function onlyThese(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

/**
 * Calls `done` when the connection has closed: at the end of the answer, or once more than MOST_ANSWER_BYTES were read.
 */
function drain(answer: IncomingMessage, done: () => void): void {
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MOST_ANSWER_BYTES) answer.destroy();
  });
  answer.on('error', () => undefined);
  answer.once('close', done);
}

function judged(status: number): SendProblem {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return { problem: 'It answered 410: it wants no more.', final: true };
  const redirected = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  return { problem: `It answered ${status}${redirected}.`, final: false };
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
