import { UNPRINTABLE } from '../ledger/text.js';

/** Text that a terminal shows as it is: what could move its cursor or turn its lines is written out, as in \u001b. */
export function printable(text: string): string {
  return text.replace(new RegExp(UNPRINTABLE, 'gu'), (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The same for text of several lines; JSON stays JSON, and means the same. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}
