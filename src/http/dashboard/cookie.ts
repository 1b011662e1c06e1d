/** The cookie of a session. */
import { SESSION_LIFE_MS } from '../../ledger/access/types.js';
import type { Exchange } from '../exchange.js';
import type { Site } from './site.js';

/** No other host and no page over http can set a cookie of this prefix. */
const SECURE_NAME = '__Host-verbatim';
/** Without https there is no such prefix. */
const LOOPBACK_NAME = 'verbatim-loopback';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** null: none, or nothing that was ever given out. */
export function sessionToken({ req }: Exchange, site: Site): string | null {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const [name = '', value = ''] = pair.split('=', 2);
    if (name.trim() === nameOn(site) && TOKEN.test(value.trim())) return value.trim();
  }
  return null;
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

function nameOn({ isSecure }: Site): string {
  return isSecure ? SECURE_NAME : LOOPBACK_NAME;
}
