/** The address that the browser has for this server, and whether a write comes from our own pages. */
import { VerbatimError } from '../../errors.js';
import type { Exchange } from '../app/exchange.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';

export interface Site {
  /** Scheme, host and port as browsers write them. */
  origin: string;
  isSecure: boolean;
  /** Whether a session's cookie can be kept from others: over https, or where nothing leaves the machine. */
  isPrivate: boolean;
}

/** A trusted proxy's X-Forwarded-Proto and X-Forwarded-Host are believed. */
export function siteOf({ req }: Pick<Exchange, 'req'>): Site {
  const given = `${req.protocol}://${req.host}`;
  if (!URL.canParse(given)) throw new VerbatimError('invalid_request', 'The Host header is not the name of a host.');
  const { origin, hostname, protocol } = new URL(given);
  const isSecure = protocol === 'https:';
  return { origin, isSecure, isPrivate: isSecure || isLoopback(hostname) };
}

/** By the name in the browser: it is the browser that keeps the cookie. */
function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/** Browsers name the origin of a request: in Sec-Fetch-Site, or else in Origin with every POST. */
export function requireSameOrigin({ req }: Pick<Exchange, 'req'>, site: Site): void {
  const fetchSite = req.headers['sec-fetch-site'];
  const isSame = fetchSite === undefined ? req.headers.origin === site.origin : fetchSite === 'same-origin';
  if (!isSame) throw new Refusal(403, TEXTS.errors.otherOrigin);
  if (!site.isPrivate) throw new Refusal(403, TEXTS.errors.notPrivate);
}
