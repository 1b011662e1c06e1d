import { UNPRINTABLE } from '../ledger/text.js';

/** Text that is safe to print on a terminal. Control characters are escaped, for example as \u001b. */
export function printable(text: string): string {
  return text.replace(new RegExp(UNPRINTABLE, 'gu'), (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The same for text of several lines. JSON stays valid and keeps its meaning. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}
