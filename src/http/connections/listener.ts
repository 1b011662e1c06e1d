/**
 * The node:http server around the application, and the limits of its connections: their number, their pace, their end.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { VerbatimError } from '../../errors.js';
import { tooManyFromAddress, type AddressLimit } from '../limits/address-limit.js';
import { answerClientErrors } from './client-error.js';
import { messagesOf } from './express-messages.js';
import { newRequestId } from './request-id.js';
import type { Timers } from '../../timers.js';
import type { Metrics } from '../monitoring/metrics.js';
import { oneAtATime } from './one-at-a-time.js';
import { endWithError } from './raw-answer.js';
import { StalledAnswers } from './stalled-answers.js';

export interface ListenerSettings {
  /** For a request's headers to arrive. */
  headersTimeoutMs: number;
  /** For a whole request to arrive, body and all. */
  receiveTimeoutMs: number;
  /** For a client that takes nothing of its answer. */
  answerStallMs: number;
}

export interface ListenerParts {
  settings: ListenerSettings;
  addresses: AddressLimit;
  logger: Logger;
  metrics: Pick<Metrics, 'connectionOpened' | 'connectionClosed' | 'connectionRefused' | 'answerCut'>;
  timers: Timers;
}

const CONNECTIONS_CHECK_MS = 5000;
const KEEP_ALIVE_MS = 65_000;
/** Refused connections that get an answer; further ones are only reset. */
const MAX_REFUSALS = 64;
const EXPECTATION = 'The server meets no expectation but "Expect: 100-continue".';

export function createListener(app: Express, parts: ListenerParts): Server {
  const { settings, logger, timers } = parts;
  const server = createServer({
    ...messagesOf(app),
    headersTimeout: settings.headersTimeoutMs,
    requestTimeout: settings.receiveTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(CONNECTIONS_CHECK_MS, settings.headersTimeoutMs),
    // The application says it in JSON.
    requireHostHeader: false,
  });
  // Node would close the connection of a client that has nothing more to send before its answer is written.
  Object.assign(server, { httpAllowHalfOpen: true });
  const listener = oneAtATime(server, app);
  server.on('request', listener);
  // Without a listener Node would invite the body of a request that is about to be refused.
  server.on('checkContinue', listener);
  // Node would answer without a body.
  server.on('checkExpectation', ({ socket }: IncomingMessage) => {
    endWithError(socket, new VerbatimError('invalid_request', EXPECTATION), newRequestId(), timers, { status: 417 });
  });
  answerClientErrors(server, logger, timers);
  cutStalledAnswers(server, parts);
  limitConnections(server, app, parts);
  return server;
}

function cutStalledAnswers(server: Server, { settings, metrics, timers }: ListenerParts): void {
  const answers = new StalledAnswers({
    limitMs: settings.answerStallMs,
    timers,
    onCut: () => metrics.answerCut(),
  });
  server.on('connection', (socket: Socket) => answers.watch(socket));
  server.once('close', () => answers.close());
}

/** A trusted proxy's connections carry many clients: each request of theirs is counted instead, by the application. */
function limitConnections(server: Server, app: Express, { addresses, logger, metrics, timers }: ListenerParts): void {
  const isProxy = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  const refused = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    metrics.connectionOpened();
    socket.once('close', () => metrics.connectionClosed());
    const address = socket.remoteAddress;
    if (address === undefined || isProxy(address, 0)) return;
    const release = addresses.take(address);
    if (release !== null) {
      socket.once('close', release);
      return;
    }
    metrics.connectionRefused();
    if (refused.size >= MAX_REFUSALS) {
      socket.resetAndDestroy();
      return;
    }
    refused.add(socket);
    socket.once('close', () => refused.delete(socket));
    const requestId = newRequestId();
    logger.warn({ requestId, status: 429, code: 'rate_limited', address }, 'too many connections');
    endWithError(socket, tooManyFromAddress(addresses.maximum), requestId, timers);
  });
}
