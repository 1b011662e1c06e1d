/** The Express application around the routes it is given. It never listens: a listener gives it a socket. */
import express, { type Express, type RequestHandler } from 'express';
import { VerbatimError } from '../../errors.js';
import { tooManyFromAddress } from '../limits/address-limit.js';
import type { HttpDeps } from './deps.js';
import { cors } from './cors.js';
import { errorHandler, type ErrorForms } from './error-handler.js';
import { Exchange } from './exchange.js';
import { mount, type Route } from './route.js';

/** The routes of one resource. */
export type MakeRoutes = (deps: HttpDeps) => Route[];

/** `errorForms`: where errors have another shape than elsewhere. */
export function createApp(
  deps: HttpDeps,
  resources: readonly MakeRoutes[],
  errorForms: readonly ErrorForms[],
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('trust proxy', [...deps.settings.trustProxy]);
  app.use(beginExchange(deps));
  app.use(cors(deps.settings));
  app.use(limitForwarded(deps));
  for (const route of resources.flatMap((make) => make(deps))) mount(app, route);
  app.use(notFound);
  app.use(errorHandler({ logger: deps.logger, engineStats: () => deps.engine.stats(), errorForms }));
  return app;
}

function beginExchange(deps: HttpDeps): RequestHandler {
  return (req, res, next) => {
    (res.locals as { exchange: Exchange }).exchange = new Exchange(req, res, deps);
    const hosts = hostsIn(req.rawHeaders);
    if (hosts === 0 && req.httpVersion === '1.1')
      throw new VerbatimError('invalid_request', 'The Host header is missing.');
    if (hosts > 1) throw new VerbatimError('invalid_request', 'There is more than one Host header; send one.');
    next();
  };
}

/** Names and values by turns. */
function hostsIn(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (/^host$/i.test(rawHeaders[at] ?? '')) count += 1;
  return count;
}

/**
 * What a trusted proxy passes on counts for the address that it names; a client of our own has its connections counted.
 */
function limitForwarded({ addresses }: HttpDeps): RequestHandler {
  return ({ ip, socket }, res, next) => {
    if (ip !== undefined && ip !== socket.remoteAddress) {
      const release = addresses.take(ip);
      if (release === null) throw tooManyFromAddress(addresses.maximum);
      res.once('close', release);
    }
    next();
  };
}

const notFound: RequestHandler = () => {
  throw new VerbatimError('not_found', 'There is nothing at this path; /openapi.json lists all paths of the API.');
};
