/**
 * Words to expect as Whisper takes them for the text before this one: without what is no text, and behind a space, as
 * its words are. '' for none.
 */
export function initialPrompt(words: string): string {
  const text = words.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  return text === '' ? '' : ` ${text}`;
}
