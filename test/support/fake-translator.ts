import type { TextTranslator } from '../../src/transcription/language-support.js';

/** Makes this of every text, as one sentence. */
export function fakeTranslator(
  translated: (text: string, languages: { from: string; to: string }) => string,
  supports: TextTranslator['supports'] = () => true,
): TextTranslator {
  return {
    supports,
    translate: ({ text: source, from, to, translated: report }) => {
      const text = translated(source, { from, to });
      const sentence = { start: 0, end: source.length, text };
      report?.({ text, sentence });
      return Promise.resolve({ text, sentences: [sentence] });
    },
  };
}
