/** Requests that leave HTTP for a WebSocket: the same keys, limits, origins and log as every other request. */
import type { IncomingMessage, OutgoingHttpHeaders, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Request } from 'express';
import { WebSocketServer } from 'ws';
import { VerbatimError, type ErrorCode } from '../../errors.js';
import type { EphemeralIdentity, Identity } from '../../ledger/types.js';
import { requestError } from '../../transcription/request-errors.js';
import type { HttpDeps } from '../app/deps.js';
import { socketIdentity } from '../auth/auth.js';
import { leaveHttp } from '../connections/one-at-a-time.js';
import { endWithError } from '../connections/raw-answer.js';
import { newRequestId } from '../connections/request-id.js';
import { GivenRequestId, RequestId } from '../schema/headers.js';
import { MOST_SOCKET_MESSAGE_BYTES, SocketConnection } from './connection.js';
import { UnreadOutput } from './unread-output.js';
import { UselessBytesOfAccounts } from './useless-bytes.js';

export interface SocketRequest {
  id: string;
  req: IncomingMessage;
  query: URLSearchParams;
  /** In the order of the client. */
  subprotocols: readonly string[];
}

/** A request that is accepted. */
export interface AcceptedSocket {
  /** Of those that the client offered; null: none. */
  subprotocol: string | null;
  /** Of the answer, beside those that every one has. */
  headers?: OutgoingHttpHeaders;
  run: (connection: SocketConnection) => void;
  /** Frees what it holds; instead of `run`, where the client has left meanwhile. */
  abandon: () => void;
}

/** An endpoint that only WebSockets reach. */
export interface SocketRoute {
  path: string;
  /** The key, from a header or a subprotocol. Throws `missing_api_key`. */
  keyOf: (request: SocketRequest) => string;
  /** Of a page, in place of a key: who is signed in. Rejects with VerbatimError. */
  signedIn?: (request: SocketRequest) => Promise<Identity>;
  /** Rejects with VerbatimError; the client then gets an HTTP answer. */
  accept: (request: SocketRequest, identity: EphemeralIdentity) => Promise<AcceptedSocket>;
  /** The body and status of such an answer. Default: the form of /api. */
  errorForm?: (error: VerbatimError, requestId: string) => { status: number; body: object };
}

/** How a request for a WebSocket ended. */
interface Outcome {
  route: string;
  status: number;
  identity?: Identity | undefined;
  code?: ErrorCode;
}

interface HandOver {
  socket: Socket;
  head: Buffer;
  accepted: AcceptedSocket;
  identity: Identity;
  record: () => void;
}

type UpgradeDeps = Pick<HttpDeps, 'ledger' | 'inFlight' | 'addresses' | 'logger' | 'metrics' | 'timers' | 'settings'>;

const BASE = 'http://localhost';

/** The open connections of a server. */
export interface Sockets {
  /** Closes those that are still open, and cuts those whose client does not answer that. */
  close(): void;
}

/** For a client to answer the end of its connection. */
const FAREWELL_MS = 1000;

export function acceptSockets(server: Server, routes: readonly SocketRoute[], deps: UpgradeDeps): Sockets {
  const upgrader = new Upgrader(routes, deps);
  const open = new Set<Socket>();
  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    leaveHttp(socket);
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    void upgrader.upgrade(req, socket, head);
  });
  return {
    close: () => {
      upgrader.close();
      // What never became a WebSocket is not waited for.
      deps.timers.after(FAREWELL_MS, () => {
        for (const socket of open) socket.destroy();
      });
    },
  };
}

class Upgrader {
  readonly #connections = new Set<SocketConnection>();
  readonly #useless = new UselessBytesOfAccounts();
  readonly #unread = new UnreadOutput();
  readonly #sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    allowSynchronousEvents: false,
    maxPayload: MOST_SOCKET_MESSAGE_BYTES,
    // accept() has chosen; it is written into the headers.
    handleProtocols: (_offered, { verbatimSubprotocol = null }: IncomingMessage & Chosen) =>
      verbatimSubprotocol ?? false,
  });

  constructor(
    private readonly routes: readonly SocketRoute[],
    private readonly deps: UpgradeDeps,
  ) {
    this.#sockets.on('headers', (lines, req: IncomingMessage & Chosen) => {
      for (const [name, value] of Object.entries(req.verbatimHeaders ?? {})) lines.push(`${name}: ${String(value)}`);
    });
  }

  close(): void {
    for (const connection of this.#connections) connection.close(1001, 'shutting_down');
  }

  async upgrade(req: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const startedAt = performance.now();
    const request = requestOf(req);
    const route = this.routes.find(({ path }) => path === pathOf(req));
    const outcome: Outcome = { route: route?.path ?? 'unmatched', status: 101 };
    const record = (): void => this.#record(request, outcome, startedAt);
    try {
      if (route === undefined) throw new VerbatimError('not_found', 'There is nothing at this path.');
      const release = this.#address(req);
      if (release !== null) socket.once('close', release);
      this.#checkOrigin(req);
      this.deps.inFlight.assertOpen();
      const identity = await this.#identity(route, request);
      outcome.identity = identity;
      const accepted = await route.accept(request, identity);
      if (socket.destroyed) accepted.abandon();
      else this.#handOver(request, { socket, head, accepted, identity, record });
    } catch (thrown) {
      const error = requestError(thrown);
      if (error.code === 'internal_error') {
        this.deps.logger.error({ requestId: request.id, route: outcome.route, err: thrown }, 'request failed');
      }
      const form = route?.errorForm?.(error, request.id);
      outcome.code = error.code;
      outcome.status = endWithError(socket, error, request.id, this.deps.timers, form);
      record();
    }
  }

  async #identity(route: SocketRoute, request: SocketRequest): Promise<EphemeralIdentity> {
    if (route.signedIn === undefined) return socketIdentity(this.deps, route.keyOf(request));
    return { ...(await route.signedIn(request)), session: null };
  }

  #handOver({ id, req }: SocketRequest, { socket, head, accepted, identity, record }: HandOver): void {
    const headers = { [RequestId.name]: id, ...accepted.headers };
    Object.assign(req, { verbatimSubprotocol: accepted.subprotocol, verbatimHeaders: headers } satisfies Chosen);
    let isDone = false;
    socket.once('close', () => {
      // ws refuses a handshake that is none, and then calls nothing.
      if (!isDone) accepted.abandon();
      record();
    });
    this.#sockets.handleUpgrade(req, socket, head, (webSocket) => {
      isDone = true;
      const connection = new SocketConnection(webSocket, this.deps.timers, {
        useless: this.#useless.ofConnection(identity.account.id),
        unread: this.#unread,
      });
      this.#connections.add(connection);
      const unwatch = this.deps.inFlight.watchConnection({
        ...{ accountId: identity.account.id, keyId: identity.key.id },
        // A session says first why it ends.
        revoked: () => setImmediate(() => connection.close(1008, 'invalid_api_key')),
      });
      socket.once('close', () => {
        this.#connections.delete(connection);
        unwatch();
      });
      accepted.run(connection);
    });
  }

  /** Counts a client behind a trusted proxy; others have their connections counted. */
  #address(req: IncomingMessage): (() => void) | null {
    const { addresses } = this.deps;
    // The message is Express's, which decides whose X-Forwarded-For is believed.
    const address = (req as Request).ip;
    if (address === undefined || address === req.socket.remoteAddress) return null;
    const release = addresses.take(address);
    if (release === null) {
      const message = `The address has ${addresses.maximum} connections open, which is its limit.`;
      throw new VerbatimError('rate_limited', message, { retryAfterSeconds: 1 });
    }
    return release;
  }

  /** A page of another origin may connect where CORS lets it read answers. Programs name no origin. */
  #checkOrigin({ headers: { origin, host } }: IncomingMessage): void {
    const { corsOrigins } = this.deps.settings;
    if (origin === undefined || corsOrigins.includes('*') || corsOrigins.includes(origin)) return;
    if (hostOf(origin) === host) return;
    const message = 'Pages of this origin may not connect: VERBATIM_CORS_ORIGINS does not name it.';
    throw new VerbatimError('insufficient_scope', message);
  }

  #record({ id }: SocketRequest, { route, status, identity, code }: Outcome, startedAt: number): void {
    const milliseconds = performance.now() - startedAt;
    this.deps.metrics.requestDone({ method: 'GET', route, status, seconds: milliseconds / 1000 });
    this.deps.logger.info({
      requestId: id,
      accountId: identity?.account.id,
      keyId: identity?.key.id,
      ...{ method: 'GET', route, status },
      ...(code === undefined ? {} : { code }),
      durationMs: Math.round(milliseconds * 10) / 10,
    });
  }
}

/** What accept() chose, on its way through the library. */
interface Chosen {
  verbatimSubprotocol?: string | null;
  verbatimHeaders?: OutgoingHttpHeaders;
}

function requestOf(req: IncomingMessage): SocketRequest {
  const given = req.headers['x-request-id'];
  const offered = req.headers['sec-websocket-protocol'] ?? '';
  return {
    id: GivenRequestId.fits(given) ? given : newRequestId(),
    req,
    query: urlOf(req)?.searchParams ?? new URLSearchParams(),
    subprotocols: offered
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  };
}

function pathOf(req: IncomingMessage): string | null {
  return urlOf(req)?.pathname ?? null;
}

function urlOf({ url = '' }: IncomingMessage): URL | null {
  return URL.canParse(url, BASE) ? new URL(url, BASE) : null;
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}
