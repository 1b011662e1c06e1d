/** One request and its answer: identity, fields of the log line, and the one way a response is sent. */
import { pipeline } from 'node:stream/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Request, Response } from 'express';
import type { Identity } from '../../ledger/types.js';
import { endInPieces } from './body-pieces.js';
import type { HttpDeps } from './deps.js';
import { EVENT_STREAM_TYPE, EventStream } from './event-stream.js';
import { GivenRequestId, headerOf, RequestId } from '../schema/headers.js';
import { lingeringSend, refusesBody } from '../connections/lingering-close.js';
import { newRequestId } from '../connections/request-id.js';

export const JSON_TYPE = 'application/json; charset=utf-8';
export const HTML_TYPE = 'text/html; charset=utf-8';
/** nginx's code for a client that left before its answer; never sent. */
const CLIENT_CLOSED_REQUEST = 499;

/** Facts that a handler finds on the way, for the log line. */
export interface RequestFacts {
  /** Of a page of the dashboard, which no key opens. */
  accountId?: string;
  transcriptionId?: string;
  /** The name of the speech model. */
  model?: string;
  jobId?: string;
  audioSeconds?: number;
  queueMs?: number;
  inferenceMs?: number;
  /** The answer was stored under the Idempotency-Key. */
  replayed?: boolean;
  code?: string;
}

export class Exchange {
  readonly id: string;
  readonly startedAt = performance.now();
  /** The template of the matched path, for logs and metrics. */
  route = 'unmatched';
  identity: Identity | null = null;
  facts: RequestFacts = {};
  #recorded = false;
  #working = false;
  #clientGone = false;
  #events: EventStream | null = null;

  constructor(
    readonly req: Request,
    readonly res: Response,
    private readonly deps: Pick<HttpDeps, 'logger' | 'metrics' | 'inFlight' | 'timers'>,
  ) {
    const given = req.headers['x-request-id'];
    this.id = GivenRequestId.fits(given) ? given : newRequestId();
    res.once('close', () => {
      this.#clientGone = true;
      if (!this.#working) this.#record(CLIENT_CLOSED_REQUEST);
    });
  }

  /** Runs the handler. For a client that leaves meanwhile the log line is written when the handler is done. */
  async work(handler: (exchange: this) => void | Promise<void>): Promise<void> {
    this.#working = true;
    try {
      await handler(this);
    } finally {
      this.#working = false;
      if (this.#clientGone) this.#record(CLIENT_CLOSED_REQUEST);
    }
  }

  json(status: number, body: object, headers?: OutgoingHttpHeaders): void {
    this.send(status, JSON_TYPE, JSON.stringify(body), headers);
  }

  send(status: number, contentType: string, body: string | Buffer, headers: OutgoingHttpHeaders = {}): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    this.#answer(status, { 'Content-Type': contentType, ...headers }, bytes);
  }

  /**
   * An answer in events. Its head goes out with the first of them, or the first heartbeat: until then an error, or any
   * other answer, is sent as ever.
   */
  events(headers: () => OutgoingHttpHeaders): EventStream {
    const { res } = this;
    this.#events = new EventStream({
      ...{ res, timers: this.deps.timers },
      begin: () => {
        const given = headers();
        // Proxies that collect answers before they pass them on would make one piece of it.
        const own = { 'Content-Type': EVENT_STREAM_TYPE, 'X-Accel-Buffering': 'no' };
        res.writeHead(200, { ...own, ...given, ...this.#everyHeader(given) });
      },
      ended: () => this.#record(this.#clientGone ? CLIENT_CLOSED_REQUEST : 200),
    });
    return this.#events;
  }

  /** Whether an answer in events has begun, and not ended. */
  get isStreaming(): boolean {
    return this.#events?.isRunning === true;
  }

  /** Ends an answer in events that has begun; false: it has not begun, or is no such answer. */
  endWithError(body: object): boolean {
    if (!this.isStreaming) return false;
    this.#events?.end([{ event: 'error', data: body }]);
    return true;
  }

  /**
   * An answer that is never held whole, at the pace of its client. What fails before the first piece is answered as
   * ever; what fails later breaks the connection.
   */
  async pieces(type: string, pieces: AsyncIterator<string>, headers: OutgoingHttpHeaders = {}): Promise<void> {
    const { req, res } = this;
    const first = await pieces.next();
    res.writeHead(200, { 'Content-Type': type, ...headers, ...this.#everyHeader(headers) });
    if (req.method === 'HEAD') res.end();
    else await pipeline(piecesFrom(first, pieces), res).catch((error: unknown) => this.#brokenOff(error));
    this.#record(this.#clientGone && !res.writableFinished ? CLIENT_CLOSED_REQUEST : 200);
  }

  #brokenOff(error: unknown): void {
    if (!this.#clientGone || this.res.writableFinished) throw error;
  }

  /** A file of the installation, streamed: bytes that a client does not read stay on the disk. */
  file(root: string, name: string, contentType: string, headers: OutgoingHttpHeaders): Promise<void> {
    const { req, res } = this;
    res.set({ 'Content-Type': contentType, ...headers, ...this.#everyHeader(headers) });
    if (refusesBody(req)) res.set('Connection', 'close');
    const options = { root, acceptRanges: false, cacheControl: false, etag: false, lastModified: false };
    return new Promise((resolve, reject) => {
      res.sendFile(name, options, (error?: Error) => {
        if (error === undefined) {
          this.#record(200);
          resolve();
        } else reject(error);
      });
    });
  }

  /**
   * A recording, or the part of it that the client asks for: players jump in it. A part that is not there gives the
   * whole. Nothing in it is ever run: it came from a client.
   */
  recording(path: string, contentType: string, more: OutgoingHttpHeaders = {}): Promise<void> {
    const { req, res } = this;
    const headers = { 'Content-Security-Policy': "default-src 'none'; sandbox", ...more };
    res.set({ 'Content-Type': contentType, ...headers, ...this.#everyHeader(headers) });
    const options = {
      dotfiles: 'allow',
      acceptRanges: true,
      cacheControl: false,
      etag: false,
      lastModified: false,
    } as const;
    return new Promise((resolve, reject) => {
      const sent = (error?: Error & { status?: number }): void => {
        if (error?.status === 416 && req.headers.range !== undefined) {
          delete req.headers.range;
          res.removeHeader('Content-Range');
          res.sendFile(path, options, sent);
        } else if (error === undefined || this.#clientGone) {
          this.#record(this.#clientGone && !res.writableFinished ? CLIENT_CLOSED_REQUEST : res.statusCode);
          resolve();
        } else reject(error);
      };
      res.sendFile(path, options, sent);
    });
  }

  /** Sends the browser on, with GET. */
  seeOther(location: string, headers: OutgoingHttpHeaders = {}): void {
    this.send(303, HTML_TYPE, '', { ...headers, Location: location });
  }

  noContent(headers: OutgoingHttpHeaders): void {
    this.#answer(204, headers, null);
  }

  #answer(status: number, given: OutgoingHttpHeaders, body: Buffer | null): void {
    const { req, res } = this;
    this.#events?.stop();
    const headers = { ...given, ...this.#everyHeader(given) };
    if (body !== null) headers['Content-Length'] = body.length;
    if (body !== null && refusesBody(req)) lingeringSend(req, res, { status, headers, body }, this.deps.timers);
    else if (body === null || req.method === 'HEAD') res.writeHead(status, headers).end();
    else endInPieces(res.writeHead(status, headers), body);
    this.#record(this.#clientGone ? CLIENT_CLOSED_REQUEST : status);
  }

  #everyHeader(given: OutgoingHttpHeaders): OutgoingHttpHeaders {
    return {
      ...headerOf(RequestId, this.id),
      'Cache-Control': given['Cache-Control'] ?? 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...(this.deps.inFlight.draining ? { Connection: 'close' } : {}),
    };
  }

  #record(status: number): void {
    if (this.#recorded) return;
    this.#recorded = true;
    const milliseconds = performance.now() - this.startedAt;
    const { method } = this.req;
    const { route, identity } = this;
    this.deps.metrics.requestDone({ method, route, status, seconds: milliseconds / 1000 });
    this.deps.logger.info({
      requestId: this.id,
      accountId: identity?.account.id,
      keyId: identity?.key.id,
      method,
      route,
      status,
      ...this.facts,
      durationMs: Math.round(milliseconds * 10) / 10,
    });
  }
}

async function* piecesFrom(
  first: IteratorResult<string, unknown>,
  rest: AsyncIterator<string>,
): AsyncGenerator<string> {
  for (let piece = first; piece.done !== true; piece = await rest.next()) yield piece.value;
}
