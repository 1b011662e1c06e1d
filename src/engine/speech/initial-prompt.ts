/**
 * Words to expect, in Whisper's form for the text before a window: control characters and white space become single
 * spaces, and the text begins with a space, as Whisper's words do. '': no words.
 */
export function initialPrompt(words: string): string {
  const text = words.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  return text === '' ? '' : ` ${text}`;
}
