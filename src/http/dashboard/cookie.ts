/** The cookies of the pages: a session's, and a new key's for a minute. */
import { SESSION_LIFE_MS } from '../../ledger/access/types.js';
import type { Exchange } from '../app/exchange.js';
import { cookieOf } from '../app/request-cookie.js';
import { PATHS } from './paths.js';
import type { Site } from './site.js';

/** No other host and no page over http can set a cookie of this prefix. */
const SECURE_NAME = '__Host-verbatim';
/** Without https there is no such prefix. */
const LOOPBACK_NAME = 'verbatim-loopback';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** null: none, or nothing that was ever given out. */
export function sessionToken(exchange: Pick<Exchange, 'req'>, site: Site): string | null {
  return cookieOf(exchange, nameOn(site), TOKEN);
}

export function sessionCookie(site: Site, token: string): string {
  return cookie(site, token, SESSION_LIFE_MS / 1000);
}

export function endedCookie(site: Site): string {
  return cookie(site, '', 0);
}

function cookie(site: Site, value: string, maxAgeSeconds: number): string {
  const secure = site.isSecure ? '; Secure' : '';
  return `${nameOn(site)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/**
 * A key that was just made, on its way through the redirect to the page that shows it once. The browser carries it, so
 * that any node can answer; the page takes it back. Whether the key is the account's own is the page's to check: over
 * http anybody may set a cookie of this name.
 */
const KEY_LIFE_SECONDS = 60;
const RAW_KEY = /^vb_[A-Za-z0-9_-]{43}$/;

export function madeKeyCookie(site: Site, rawKey: string): string {
  return keyCookie(site, rawKey, KEY_LIFE_SECONDS);
}

export function endedKeyCookie(site: Site): string {
  return keyCookie(site, '', 0);
}

/** null: none, or nothing that is a key. */
export function madeKey(exchange: Exchange, site: Site): string | null {
  return cookieOf(exchange, keyNameOn(site), RAW_KEY);
}

function keyCookie(site: Site, value: string, maxAgeSeconds: number): string {
  const secure = site.isSecure ? '; Secure' : '';
  const path = `Path=${PATHS.madeKey}`;
  return `${keyNameOn(site)}=${value}; ${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

function keyNameOn({ isSecure }: Site): string {
  return isSecure ? '__Secure-verbatim-key' : 'verbatim-loopback-key';
}

function nameOn({ isSecure }: Site): string {
  return isSecure ? SECURE_NAME : LOOPBACK_NAME;
}
