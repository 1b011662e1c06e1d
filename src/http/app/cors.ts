/** Which pages a browser lets read the API's answers. Keys travel in a header: no answer allows cookies. */
import type { RequestHandler } from 'express';
import type { HttpSettings } from './deps.js';

const API = /^\/(api|v1)\//;
const METHODS = 'GET, HEAD, POST, PATCH, DELETE';
/** The headers that a client may send when its preflight request names none. */
const HEADERS = 'Authorization, Content-Type, Idempotency-Key, X-Request-Id';
const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+(?: *, *[A-Za-z0-9!#$%&'*+.^_`|~-]+)*$/;
/** Beside those that any page may read. */
const EXPOSED =
  'X-Request-Id, Retry-After, Server-Timing, Idempotency-Replayed, X-Transcription-Id, X-Model, X-Credits-Used, ' +
  'X-Credits-Remaining, X-Verbatim-Warning, X-Ignored-Fields, X-Should-Retry';
/** A browser may remember a preflight so long. */
const MAX_AGE_SECONDS = 600;

export function cors({ corsOrigins }: Pick<HttpSettings, 'corsOrigins'>): RequestHandler {
  const any = corsOrigins.includes('*');
  return (req, res, next) => {
    const { origin } = req.headers;
    if (corsOrigins.length === 0 || !API.test(req.path)) {
      next();
      return;
    }
    if (!any) res.vary('Origin');
    if (origin !== undefined && (any || corsOrigins.includes(origin))) {
      res.setHeader('Access-Control-Allow-Origin', any ? '*' : origin);
      if (req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined) {
        const asked = req.headers['access-control-request-headers'] ?? '';
        res.setHeader('Access-Control-Allow-Methods', METHODS);
        res.setHeader('Access-Control-Allow-Headers', HEADER_LIST.test(asked) ? asked : HEADERS);
        res.setHeader('Access-Control-Max-Age', MAX_AGE_SECONDS);
      } else {
        res.setHeader('Access-Control-Expose-Headers', EXPOSED);
      }
    }
    next();
  };
}
