/** Lines of subtitles. */
import { wordsIn } from '../engine/transcript-text.js';

/** Where words allow. Characters are counted in UTF-16 units: no other count is larger. */
export const MOST_LINE_CHARACTERS = 42;

/** As few as do, about as long as each other, of a text with single spaces. */
export function linesOf(text: string, language: string): string[] {
  if (text.length <= MOST_LINE_CHARACTERS) return [text];
  const words = wordsIn(text, language);
  const fewest = wrapped(words, MOST_LINE_CHARACTERS).length;
  // Of full lines the spaces between them are not shown, and count in the length.
  for (let width = Math.min(MOST_LINE_CHARACTERS, Math.ceil(text.length / fewest)); ; width++) {
    const lines = wrapped(words, width);
    if (lines.length <= fewest) return lines;
  }
}

function wrapped(words: readonly string[], width: number): string[] {
  const lines = [''];
  for (const word of words) {
    const line = lines.pop() ?? '';
    if (line === '' || (line + word).trim().length <= width) lines.push(line + word);
    else lines.push(line, word);
  }
  return lines.map((line) => line.trim());
}
