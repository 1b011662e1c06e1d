/** Light or dark, as the reader chose: kept in a cookie, so that the first byte of a page already has it. */
import type { Exchange } from './exchange.js';
import { cookieOf } from './request-cookie.js';

export const THEMES = ['system', 'light', 'dark'] as const;
/** system: as the browser says. */
export type Theme = (typeof THEMES)[number];

export const THEME_COOKIE = 'verbatim-theme';

export function themeOf(exchange: Pick<Exchange, 'req'>): Theme {
  const given = cookieOf(exchange, THEME_COOKIE, /^[a-z]+$/);
  return THEMES.find((theme) => theme === given) ?? 'system';
}
