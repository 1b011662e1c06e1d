/**
 * Every answer that this process's HTTP servers send, as it was sent. Loaded by the tests' own process, and before
 * anything else by a server that a test starts: that one writes them into the file SENT_ANSWERS, a line of JSON each.
 */
import { appendFileSync } from 'node:fs';
import diagnostics from 'node:diagnostics_channel';
import { ServerResponse } from 'node:http';

export interface SentAnswer {
  method: string;
  path: string;
  status: number;
  headers: Record<string, string>;
  body: string;
}
/** An answer that Node has finished and that was not recorded: nobody would hold it against the document. */
export interface UnseenAnswer {
  unseen: string;
}

type Listener = (answer: SentAnswer | UnseenAnswer) => void;
const listeners: Listener[] = [];
const report: Listener = (answer) => listeners.forEach((listener) => listener(answer));

export function onAnswer(listener: Listener): void {
  listeners.push(listener);
}

interface Sending {
  headers: Record<string, string>;
  /** Latin-1, a character for a byte. */
  body: string;
  isReported: boolean;
}
const sendings = new WeakMap<ServerResponse, Sending>();

type Send = (this: ServerResponse, ...args: unknown[]) => unknown;
const prototype = ServerResponse.prototype as unknown as { writeHead: Send; end: Send; write: Send };

/** Node itself comes here with what was given by setHeader() alone. */
const { writeHead } = prototype;
prototype.writeHead = function (...args) {
  const given = args.slice(1).find((argument) => typeof argument === 'object') ?? {};
  const headers = Object.entries({ ...this.getHeaders(), ...given }).map(([name, value]) => [
    name.toLowerCase(),
    String(value),
  ]);
  sendings.set(this, { headers: Object.fromEntries(headers) as Record<string, string>, body: '', isReported: false });
  return writeHead.apply(this, args);
};

// An answer to an upload that is refused early is written and not ended; every other one is ended.
for (const name of ['end', 'write'] as const) {
  const send = prototype[name];
  prototype[name] = function (...args) {
    const result = send.apply(this, args);
    const sending = sendings.get(this);
    if (sending === undefined || !isOurs(sending)) return result;
    sending.body += latin1(args[0]);
    if (name === 'end' || sending.body.length >= lengthOf(sending)) reportOnce(this, sending);
    return result;
  };
}

diagnostics.subscribe('http.server.response.finish', (message) => {
  const { response } = message as { response: ServerResponse };
  const sending = sendings.get(response);
  const isSeen = sending !== undefined && (sending.isReported || !isOurs(sending));
  if (!isSeen) report({ unseen: `${response.req.method ?? ''} ${response.req.url ?? ''}` });
});

/** Tests have servers of their own, too. */
const isOurs = ({ headers }: Sending): boolean => headers['x-request-id'] !== undefined;

/** Infinite where Node finds it out by itself, or where there is no end to be known. */
const lengthOf = ({ headers }: Sending): number => Number(headers['content-length'] ?? Infinity);

function reportOnce(response: ServerResponse, sending: Sending): void {
  if (sending.isReported || !isOurs(sending)) return;
  sending.isReported = true;
  const { method = '', url = '' } = response.req;
  report({
    method,
    path: url.split('?')[0] ?? '',
    status: response.statusCode,
    headers: sending.headers,
    body: Buffer.from(sending.body, 'latin1').toString('utf8'),
  });
}

function latin1(chunk: unknown): string {
  if (typeof chunk === 'string') return Buffer.from(chunk).toString('latin1');
  return chunk instanceof Uint8Array ? Buffer.from(chunk).toString('latin1') : '';
}

export const ANSWERS_VARIABLE = 'SENT_ANSWERS';

const path = process.env[ANSWERS_VARIABLE];
if (path !== undefined) onAnswer((answer) => appendFileSync(path, `${JSON.stringify(answer)}\n`));
