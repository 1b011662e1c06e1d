/** Segments as a table. */
import type { TimedText } from '../../transcription/timed-text.js';
import { csvText } from './csv-table.js';

/** Behind a byte order mark: without it Excel does not take the file for UTF-8. */
export function csvOf(segments: readonly TimedText[]): string {
  const rows = segments.map(({ startSeconds, endSeconds, speaker = '', text }) => [
    ...[startSeconds.toFixed(3), endSeconds.toFixed(3), speaker, text],
  ]);
  return csvText(['start', 'end', 'speaker', 'text'], rows, { bom: true, quoted_string: true });
}
