/** A transcription in the form that was asked for. */
import type { LocalTranscription } from '../service/local-transcriber.js';
import { answerText } from '../transcription/answer-text.js';
import type { AnswerFormat } from '../transcription/options.js';
import type { Translation } from '../transcription/result.js';
import type { TimedText, TimedWord } from '../transcription/timed-text.js';

/** Of files of a format, with their dot. */
export const EXTENSIONS: Readonly<Record<AnswerFormat, string>> = {
  json: '.json',
  text: '.txt',
  srt: '.srt',
  vtt: '.vtt',
};

/**
 * With a line break at its end. `showsDecoded`: JSON has the segments as they were decoded where no times were asked
 * for.
 */
export async function renderedTranscript(
  result: LocalTranscription,
  format: AnswerFormat,
  showsDecoded: boolean,
): Promise<string> {
  if (format === 'json') return `${JSON.stringify(jsonOf(result, showsDecoded), null, 2)}\n`;
  const text = await answerText(result, format);
  return text.endsWith('\n') ? text : `${text}\n`;
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
