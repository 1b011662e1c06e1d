/** Writes a transcription in the requested format. */
import type { LocalTranscription } from '../service/local-transcriber.js';
import { answerText } from '../transcription/answer-text.js';
import type { AnswerFormat } from '../transcription/options.js';
import type { Translation } from '../transcription/result.js';
import type { TimedText, TimedWord } from '../transcription/timed-text.js';

/** tsv: one line for each segment, in the format of whisper's command line. */
export type FileFormat = AnswerFormat | 'tsv';

/** File extensions, with the dot. */
export const EXTENSIONS: Readonly<Record<FileFormat, string>> = {
  json: '.json',
  text: '.txt',
  srt: '.srt',
  vtt: '.vtt',
  tsv: '.tsv',
};

/**
 * The text ends with a line break. `showsDecoded`: JSON includes the decoded segments even if no timestamps were
 * requested.
 */
export async function renderedTranscript(
  result: LocalTranscription,
  format: FileFormat,
  showsDecoded: boolean,
): Promise<string> {
  if (format === 'json') return `${JSON.stringify(jsonOf(result, showsDecoded), null, 2)}\n`;
  if (format === 'tsv') return tsvOf(result);
  const text = await answerText(result, format);
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** Times are in milliseconds. Like subtitles, it contains the translation if there is one. */
function tsvOf(result: LocalTranscription): string {
  const { segments } = result.translation ?? result;
  const rows = (segments ?? []).map(({ startSeconds, endSeconds, text, speaker }) => {
    const spoken = (speaker === undefined ? text : `${speaker}: ${text}`).replace(/\s+/g, ' ');
    return [milliseconds(startSeconds), milliseconds(endSeconds), spoken].join('\t');
  });
  return ['start\tend\ttext', ...rows, ''].join('\n');
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}

function jsonOf(result: LocalTranscription, showsDecoded: boolean): Record<string, unknown> {
  const { translation, warnings, words, timings } = result;
  const segments = result.segments ?? (showsDecoded ? result.decoded : null);
  return {
    duration_sec: result.durationSeconds,
    language: result.language,
    language_probability: result.transcript.languageProbability,
    text: result.text,
    ...(translation === null ? {} : { translation: jsonOfTranslation(translation) }),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(segments === null ? {} : { segments: segments.map(jsonOfSegment) }),
    ...(words === null ? {} : { words: words.map(jsonOfWord) }),
    timings,
  };
}

function jsonOfTranslation({ language, text, segments }: Translation): Record<string, unknown> {
  return { language, text, ...(segments === null ? {} : { segments: segments.map(jsonOfSegment) }) };
}

function jsonOfSegment({ startSeconds, endSeconds, text, speaker }: TimedText): Record<string, unknown> {
  return { start: startSeconds, end: endSeconds, text, speaker };
}

function jsonOfWord({ startSeconds, endSeconds, text, probability, speaker }: TimedWord): Record<string, unknown> {
  return { word: text, start: startSeconds, end: endSeconds, probability, speaker };
}
