/** Who speaks in the final results of a session. */
import { SAMPLE_RATE } from '../engine/sample-rate.js';
import type { Diarizer, LiveTurn, NoDiarizer } from '../engine/types.js';
import { SpeakerTimeline, type TimeSpan } from '../transcription/speaker-timeline.js';
import type { FailedResult, FinalResult } from './events.js';
import type { ExtraWork } from './extra-work.js';
import type { LiveSettings } from './options.js';

interface SpokenStretch {
  startSample: number;
  samples: Int16Array;
}

export interface StretchSpeakers {
  /** With times of the session; null: they could not be found. Calls are in the order of the audio. */
  turnsIn(stretch: SpokenStretch, signal: AbortSignal): Promise<LiveTurn[] | null>;
  /** Whether they distinguish speakers of this language, ISO 639-1. */
  serves(language: string): boolean;
}

/** null: nobody asked. */
export function sessionSpeakers(
  diarizer: Diarizer | NoDiarizer,
  { diarize }: Pick<LiveSettings, 'diarize'>,
  extraWork: ExtraWork,
): StretchSpeakers | null {
  if (!diarize || 'unavailable' in diarizer) return null;
  const speakers = diarizer.follow();
  return {
    serves: (language) => diarizer.serves(language),
    turnsIn: async ({ startSample, samples }, signal) => {
      const start = startSample / SAMPLE_RATE;
      const measured = extraWork.begin('diarized');
      try {
        const turns = await speakers.turnsIn(samples, signal);
        return turns.map(({ startSeconds, endSeconds, speaker }) => ({
          ...{ startSeconds: start + startSeconds, endSeconds: start + endSeconds, speaker },
        }));
      } catch {
        // The text is the more important.
        return null;
      } finally {
        measured(samples.length / SAMPLE_RATE);
      }
    },
  };
}

/** The result with its speakers, where they were found and distinguish its language. */
export async function spokenBy(
  event: FinalResult | FailedResult,
  found: Promise<LiveTurn[] | null> | undefined,
  speakers: StretchSpeakers | null | undefined,
): Promise<FinalResult | FailedResult> {
  const turns = await found;
  const isKnown = event.type === 'final' && speakers?.serves(event.language) === true;
  return turns === undefined || turns === null || !isKnown ? event : { ...event, turns };
}

/** Of words of a result with these turns; null: nobody knows. */
export function speakerAt(turns: readonly LiveTurn[] | undefined): (word: TimeSpan) => number | null {
  if (turns === undefined || turns.length === 0) return () => null;
  const named = turns.map((turn) => ({ ...turn, speaker: String(turn.speaker) }));
  const timeline = new SpeakerTimeline(named, Infinity);
  return (word) => Number(timeline.speakerOf(word));
}

/** What one speaker says before another one does. */
export interface SpeakerRun {
  startSeconds: number;
  endSeconds: number;
  text: string;
  /** S1, S2, ...; null: nobody knows. */
  speaker: string | null;
}

/** A result by its speakers; one run where it has no words, or nobody knows who speaks. */
export function speakerRuns({ turns, segments, text, startSeconds, endSeconds }: FinalResult): SpeakerRun[] {
  const speakerOf = speakerAt(turns);
  const runs: SpeakerRun[] = [];
  for (const word of segments.flatMap(({ words = [] }) => words)) {
    const number = speakerOf(word);
    if (number === null) break;
    const [speaker, last] = [`S${number + 1}`, runs.at(-1)];
    if (last?.speaker === speaker) Object.assign(last, { text: last.text + word.text, endSeconds: word.endSeconds });
    else runs.push({ startSeconds: word.startSeconds, endSeconds: word.endSeconds, text: word.text, speaker });
  }
  if (runs.length === 0) return [{ startSeconds, endSeconds, text, speaker: null }];
  return runs.map((run) => ({ ...run, text: run.text.trim() }));
}
