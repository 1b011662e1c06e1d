/** Routes as data: a path, and a handler for each method that the path knows. */
import type { Express, Request, Response } from 'express';
import { VerbatimError } from '../../errors.js';
import type { Exchange } from './exchange.js';
import { Allow, headerOf } from '../schema/headers.js';

export type Handler = (exchange: Exchange) => void | Promise<void>;

export interface Route {
  path: string;
  methods: Partial<Record<'GET' | 'POST' | 'PATCH' | 'DELETE', Handler>>;
}

export type Locals = { exchange: Exchange };

/** Known path, other method: 405 with Allow. HEAD is GET without the body; OPTIONS lists the methods. */
export function mount(app: Express, { path, methods }: Route): void {
  const names = Object.keys(methods);
  const allow = [...names, ...(names.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  const handlers = new Map<string, Handler>(Object.entries(methods));
  if (methods.GET) handlers.set('HEAD', methods.GET);
  handlers.set('OPTIONS', (exchange) => exchange.noContent(headerOf(Allow, allow)));
  app.route(path).all((req: Request, res: Response) => {
    const { exchange } = res.locals as Locals;
    exchange.route = path;
    const handler = handlers.get(req.method);
    if (handler) return exchange.work(handler);
    res.setHeader(Allow.name, allow);
    throw new VerbatimError('method_not_allowed', `${path} does not support ${req.method}; it supports ${allow}.`);
  });
}
