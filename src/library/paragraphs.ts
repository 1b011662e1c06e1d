/** Segments, which are lines of subtitles, as paragraphs to read. */
import { joinTexts } from '../engine/transcript-text.js';
import type { TimedText } from '../transcription/timed-text.js';

export interface Paragraph {
  startSeconds: number;
  /** null: it is not known who speaks. */
  speaker: string | null;
  text: string;
}

/** A paragraph that has begun so long ago ends with its sentence. */
const LONG_SECONDS = 45;
/** Some write without marks. */
const LONGEST_SECONDS = 90;

const ENDS_SENTENCE = /[.!?…。！？।؟]["'”’»)\]]*$/u;

/** What a speaker says until another one does, a minute or so at most. Segments without text are left out. */
export function spokenParagraphs(segments: readonly TimedText[], language: string): Paragraph[] {
  const runs: { startSeconds: number; speaker: string | null; texts: string[] }[] = [];
  for (const { startSeconds, speaker = null, text } of segments) {
    if (text === '') continue;
    const last = runs.at(-1);
    if (last !== undefined && last.speaker === speaker && !isFull(last, startSeconds)) last.texts.push(text);
    else runs.push({ startSeconds, speaker, texts: [text] });
  }
  return runs.map(({ texts, ...run }) => ({ ...run, text: joinTexts(texts, language) }));
}

function isFull(run: { startSeconds: number; texts: readonly string[] }, now: number): boolean {
  const seconds = now - run.startSeconds;
  return seconds >= LONGEST_SECONDS || (seconds >= LONG_SECONDS && ENDS_SENTENCE.test(run.texts.at(-1) ?? ''));
}
