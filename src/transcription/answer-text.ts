import { setImmediate as nextTurn } from 'node:timers/promises';
import { speakerLines } from './diarized.js';
import type { AnswerFormat } from './options.js';
import type { TranscriptionResult } from './result.js';
import { srtCues, vttCues } from './subtitles.js';

/** Cues after which the event loop gets its turn. */
const CUES_AT_ONCE = 64;

export type TextFormat = Exclude<AnswerFormat, 'json'>;

/** The parts of a text or a subtitle file. `segments` is null where only the text was requested, without speakers. */
export type Written = Pick<TranscriptionResult, 'language' | 'text' | 'segments' | 'translation' | 'durationSeconds'>;

/**
 * The text, or subtitles, of the translation where there is one. Where it is known who speaks, a text has a line for
 * each turn; no line break ends it. A long file is written piece by piece: others get their turns.
 */
export async function answerText(result: Written, format: TextFormat): Promise<string> {
  const { language, text, segments } = result.translation ?? result;
  const isDiarized = segments?.some(({ speaker }) => speaker !== undefined) === true;
  if (format === 'text') return isDiarized ? speakerLines(segments, language).join('\n') : text;
  const subtitled = { language, segments: segments ?? [], durationSeconds: result.durationSeconds };
  return joined(format === 'srt' ? srtCues(subtitled) : vttCues(subtitled));
}

async function joined(cues: Iterable<string>): Promise<string> {
  const made: string[] = [];
  for (const cue of cues) {
    made.push(cue);
    if (made.length % CUES_AT_ONCE === 0) await nextTurn();
  }
  return made.join('\n');
}
