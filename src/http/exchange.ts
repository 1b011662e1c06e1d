/** One request and its answer: identity, what the log line says, and the one way a response is sent. */
import { randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Request, Response } from 'express';
import type { Identity } from '../ledger/types.js';
import type { HttpDeps } from './deps.js';
import { lingeringSend, refusesBody } from './lingering-close.js';

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const JSON_TYPE = 'application/json; charset=utf-8';
/** nginx's code for a client that left before its answer; never sent. */
const CLIENT_CLOSED_REQUEST = 499;

/** What a handler learns on the way and the log line tells. */
export interface RequestFacts {
  transcriptionId?: string;
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

  constructor(
    readonly req: Request,
    readonly res: Response,
    private readonly deps: Pick<HttpDeps, 'logger' | 'metrics' | 'inFlight' | 'timers'>,
  ) {
    const given = req.headers['x-request-id'];
    this.id = typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : newRequestId();
    res.once('close', () => this.#record(CLIENT_CLOSED_REQUEST));
  }

  json(status: number, body: object, headers?: OutgoingHttpHeaders): void {
    this.send(status, JSON_TYPE, JSON.stringify(body), headers);
  }

  /** A body that is JSON already. */
  jsonText(status: number, body: string, headers?: OutgoingHttpHeaders): void {
    this.send(status, JSON_TYPE, body, headers);
  }

  send(status: number, contentType: string, body: string, headers: OutgoingHttpHeaders = {}): void {
    this.#answer(status, { 'Content-Type': contentType, ...headers }, body);
  }

  noContent(headers: OutgoingHttpHeaders): void {
    this.#answer(204, headers, null);
  }

  #answer(status: number, headers: OutgoingHttpHeaders, body: string | null): void {
    const { req, res } = this;
    headers['X-Request-Id'] = this.id;
    headers['Cache-Control'] ??= 'no-store';
    headers['X-Content-Type-Options'] = 'nosniff';
    if (body !== null) headers['Content-Length'] = Buffer.byteLength(body);
    if (this.deps.inFlight.draining) headers['Connection'] = 'close';
    if (body !== null && refusesBody(req))
      lingeringSend(req, res, { status, headers, body }, this.deps.timers);
    else res.writeHead(status, headers).end(body ?? undefined);
    this.#record(status);
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

export function newRequestId(): string {
  return `req_${randomUUID()}`;
}
