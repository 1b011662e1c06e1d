/** A file's transcript in the shape that Deepgram documents. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Static } from 'typebox';
import { withoutPunctuation } from '../../transcription/punctuation.js';
import type { TranscriptionResult } from '../../transcription/result.js';
import type { TimedWord } from '../../transcription/timed-text.js';
import { modelInfo } from './alternative.js';
import type { FileQuery } from './file-query.js';
import type { ListenAnswer, ListenUtterance } from './file-schema.js';
import {
  confidenceOf,
  paragraphsOf,
  paragraphText,
  utterancesOf,
  utterancesOfLines,
  type WrittenWord,
} from './word-groups.js';

export interface FileFacts {
  requestId: string;
  sha256: string;
  /** When the request came, milliseconds since 1970. */
  createdAt: number;
}

type Answer = Static<typeof ListenAnswer>;
type Utterance = Static<typeof ListenUtterance>;

/** Words after which the event loop gets its turn. */
const WORDS_AT_ONCE = 256;

export async function listenAnswer(
  result: TranscriptionResult,
  asked: FileQuery,
  { requestId, sha256, createdAt }: FileFacts,
): Promise<Answer> {
  const { language, text, segments } = result;
  const words = await wordsOf(result, asked);
  const model = result.model ?? '';
  const utterances = (gap: number): Utterance[] =>
    result.words === null ? utterancesOfLines(segments ?? []) : utterancesOf(words, language, gap);
  const paragraphs = asked.paragraphs ? paragraphsOf(words, language) : null;
  const spoken = words.map(({ word }) => word);
  const alternative = {
    ...{ transcript: text, confidence: confidenceOf(spoken), words: spoken },
    ...(paragraphs === null ? {} : { paragraphs: { transcript: paragraphText(paragraphs, language), paragraphs } }),
    ...(asked.namesLanguages && text !== '' ? { languages: [language] } : {}),
  };
  return {
    metadata: {
      ...{ transaction_key: 'deprecated', request_id: requestId, sha256 },
      ...{ created: new Date(createdAt).toISOString(), duration: result.durationSeconds, channels: 1 },
      ...{ models: [model], model_info: { [model]: modelInfo(model) } },
    },
    results: {
      channels: [{ alternatives: [alternative], ...(asked.detectsLanguage ? { detected_language: language } : {}) }],
      ...(asked.utteranceGap === null ? {} : { utterances: utterances(asked.utteranceGap) }),
    },
  };
}

async function wordsOf(
  { words, language }: TranscriptionResult,
  { options, namesLanguages }: FileQuery,
): Promise<WrittenWord[]> {
  const written: WrittenWord[] = [];
  for (const [index, timed] of (words ?? []).entries()) {
    if (index % WORDS_AT_ONCE === WORDS_AT_ONCE - 1) await nextTurn();
    const word = withoutPunctuation(timed.text, language);
    if (word === '') continue;
    const { startSeconds: start, endSeconds: end, probability: confidence, text } = timed;
    written.push({
      text,
      word: {
        ...{ word, start, end, confidence },
        ...(options.punctuate ? { punctuated_word: text } : {}),
        ...speakerOf(timed),
        ...(namesLanguages ? { language } : {}),
      },
    });
  }
  return written;
}

/** S1 is 0. */
function speakerOf({ speaker }: TimedWord): { speaker?: number } {
  return speaker === undefined ? {} : { speaker: Number(speaker.slice(1)) - 1 };
}
