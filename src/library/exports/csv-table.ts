import { stringify, type Options } from 'csv-stringify/sync';

/**
 * RFC 4180. A cell that a spreadsheet would run as a formula begins with an apostrophe:
 * https://owasp.org/www-community/attacks/CSV_Injection.
 */
export function csvText(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  more: Pick<Options, 'bom' | 'quoted_string'> = {},
): string {
  return stringify([header, ...rows], { escape_formulas: true, record_delimiter: 'windows', ...more });
}

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';
