/** The Express application. It never listens: server.ts gives it a socket. */
import express, { type Express, type RequestHandler } from 'express';
import { VerbatimError } from '../errors.js';
import { tooManyFromAddress } from './address-limit.js';
import { accountRoutes } from './api/account.js';
import type { HttpDeps } from './deps.js';
import { docsRoutes } from './docs.js';
import { errorHandler } from './error-handler.js';
import { Exchange } from './exchange.js';
import { keyRoutes } from './api/keys.js';
import { probeRoutes } from './probes.js';
import { mount } from './route.js';
import { transcribeRoutes } from './api/transcribe.js';

export function createApp(deps: HttpDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('trust proxy', [...deps.settings.trustProxy]);
  app.use(beginExchange(deps));
  app.use(limitForwarded(deps));
  const routes = [accountRoutes, transcribeRoutes, keyRoutes, probeRoutes, docsRoutes].flatMap((make) =>
    make(deps),
  );
  for (const route of routes) mount(app, route);
  app.use(notFound);
  app.use(errorHandler({ logger: deps.logger, engineStats: () => deps.engine.stats() }));
  return app;
}

function beginExchange(deps: HttpDeps): RequestHandler {
  return (req, res, next) => {
    (res.locals as { exchange: Exchange }).exchange = new Exchange(req, res, deps);
    if (req.headers.host === undefined && req.httpVersion === '1.1') {
      throw new VerbatimError('invalid_request', 'The Host header is missing.');
    }
    next();
  };
}

/** What a trusted proxy passes on counts for the address that it names; a client of our own has its connections counted. */
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
  throw new VerbatimError('not_found', 'There is nothing at this path.');
};
