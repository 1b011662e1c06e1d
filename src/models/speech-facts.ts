/** Finds out what an installed speech model can do, without loading it. */
import { closeSync, openSync, readSync } from 'node:fs';
import { fromWhisperLanguage } from '../engine/languages.js';
import type { EngineInfo } from '../engine/types.js';
import type { SpeechModelEntry } from './manifest.js';

export type SpeechModelFacts = Pick<
  EngineInfo,
  | 'modelName'
  | 'languages'
  | 'translatesToEnglish'
  | 'abilities'
  | 'alignsWords'
  | 'isDemonstration'
  | 'minAverageLogProbability'
>;

/** Whisper's languages in its spelling, in the order of their tokens. The last one was added with large-v3. */
const WHISPER_LANGUAGES =
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml ' +
  'cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am ' +
  'yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue';

/**
 * Tokens of an English-only Whisper vocabulary. TOKENS_BESIDE_LANGUAGES: tokens of a multilingual one that are not
 * languages.
 */
const ENGLISH_TOKENS = 51_864;
const TOKENS_BESIDE_LANGUAGES = 51_766;

/** `path`: the model's file, which must exist. The result equals the engine's report after loading. */
export function speechFacts(entry: SpeechModelEntry, path: string): SpeechModelFacts {
  const isWhisper = entry.decoder === undefined;
  const known = isWhisper ? whisperLanguages(path) : [];
  const wanted = entry.languages;
  const languages = wanted === 'whisper' ? known : isWhisper ? known.filter((code) => wanted.includes(code)) : wanted;
  return {
    modelName: entry.name,
    languages,
    translatesToEnglish: entry.translates === true && known.length > 1,
    abilities: { detectsLanguage: true, takesPrompt: isWhisper, takesTemperature: isWhisper },
    alignsWords: true,
    isDemonstration: entry.demonstration === true,
    minAverageLogProbability: entry.minAverageLogProbability ?? null,
  };
}

/** Reads the header of a ggml Whisper file: its magic number, then the number of tokens. */
function whisperLanguages(path: string): string[] {
  const head = new Int32Array(2);
  const file = openSync(path, 'r');
  try {
    readSync(file, head, 0, head.byteLength, 0);
  } finally {
    closeSync(file);
  }
  const [, tokens = 0] = head;
  if (tokens <= ENGLISH_TOKENS) return ['en'];
  return WHISPER_LANGUAGES.split(' ')
    .slice(0, tokens - TOKENS_BESIDE_LANGUAGES)
    .map(fromWhisperLanguage);
}
