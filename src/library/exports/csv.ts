/** Segments as a table. */
import { stringify } from 'csv-stringify/sync';
import type { TimedText } from '../../transcription/timed-text.js';

/**
 * RFC 4180, behind a byte order mark: without it Excel does not take the file for UTF-8. A cell that a spreadsheet
 * would run as a formula begins with an apostrophe: https://owasp.org/www-community/attacks/CSV_Injection.
 */
export function csvOf(segments: readonly TimedText[]): string {
  const rows = segments.map(({ startSeconds, endSeconds, speaker = '', text }) => [
    ...[startSeconds.toFixed(3), endSeconds.toFixed(3), speaker, text],
  ]);
  const options = { bom: true, escape_formulas: true, quoted_string: true, record_delimiter: 'windows' } as const;
  return stringify([['start', 'end', 'speaker', 'text'], ...rows], options);
}
