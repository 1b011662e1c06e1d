import { IncomingMessage, ServerResponse, type ServerOptions } from 'node:http';
import type { Express } from 'express';

/** Whether the request asks for another protocol. */
const OFFERED = Symbol('offered');

/**
 * For createServer(): messages that have Express's methods from the start. Express otherwise changes the prototype of
 * each request and response. V8's scavenger then keeps everything that a request in flight refers to: a megabyte with
 * 16 clients, twice a second, until a full collection. Where the prototype is the right one already, Express changes
 * nothing.
 */
export function messagesOf(app: Express): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class Request extends IncomingMessage {
    /** Set by the base class's constructor, before a private field could be. */
    declare [OFFERED]: boolean | null;

    /**
     * Read by Node's HTTP parser, once all headers are there. Only a WebSocket leaves HTTP: a client that offers
     * something else (curl offers h2c) is answered in HTTP, as a server without upgrades answers it.
     */
    get upgrade(): boolean {
      return this[OFFERED] === true && (this.method === 'CONNECT' || offersWebSocket(this));
    }

    set upgrade(value: boolean | null) {
      this[OFFERED] = value;
    }
  }
  class Response<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  Object.assign(app, { request: Request.prototype, response: Response.prototype });
  return { IncomingMessage: Request, ServerResponse: Response };
}

function offersWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}
