import type { Exchange } from './exchange.js';

/** null: there is none of this name and form. */
export function cookieOf({ req }: Pick<Exchange, 'req'>, name: string, form: RegExp): string | null {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const [given = '', value = ''] = pair.split('=', 2);
    if (given.trim() === name && form.test(value.trim())) return value.trim();
  }
  return null;
}
