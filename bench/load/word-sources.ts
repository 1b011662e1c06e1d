/** Whoever says which words are spoken in a recording, and when. */
import { VerbatimClient } from '../../src/client/index.js';
import type { SpeechEngine, Transcript } from '../../src/engine/types.js';
import type { SpokenWord } from '../../src/models/alignment/timed-clips.js';

export interface WordSource {
  /** `language` is a code or 'auto'. */
  wordsOf(path: string, language: string): Promise<SpokenWord[]>;
  close(): Promise<void>;
}

export function engineWords(engine: SpeechEngine): WordSource {
  return {
    wordsOf: async (path, language) => {
      const file = { path, accountId: 'bench' };
      const seconds = await engine.measure(file);
      return timedWords(await engine.transcribe({ ...file, seconds, language, align: true }));
    },
    close: () => engine.close(),
  };
}

function timedWords({ segments }: Transcript): SpokenWord[] {
  return segments
    .flatMap(({ words = [] }) => words)
    .map(({ text, startSeconds: start, endSeconds: end }) => ({ word: text.trim(), start, end }));
}

export function serverWords(baseUrl: string, apiKey: string): WordSource {
  const client = new VerbatimClient({ baseUrl, apiKey });
  return {
    wordsOf: async (audio, language) => {
      const spoken = language === 'auto' ? {} : { language };
      const { words = [] } = await client.transcribe({ audio, ...spoken, timestamps: 'word' });
      return words.map(({ word, start, end }) => ({ word, start, end }));
    },
    close: () => client.close(),
  };
}
