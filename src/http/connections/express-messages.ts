import { IncomingMessage, ServerResponse, type ServerOptions } from 'node:http';
import type { Express } from 'express';

/**
 * For createServer(): messages that have Express's methods from the start. Express otherwise changes the prototype of
 * each request and response. V8's scavenger then keeps everything that a request in flight refers to: a megabyte with
 * 16 clients, twice a second, until a full collection. Where the prototype is the right one already, Express changes
 * nothing.
 */
export function messagesOf(app: Express): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class Request extends IncomingMessage {}
  class Response<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  Object.assign(app, { request: Request.prototype, response: Response.prototype });
  return { IncomingMessage: Request, ServerResponse: Response };
}
