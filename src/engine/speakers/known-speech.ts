import { SPEAKS, speakersIn, type FrameGrid, type WindowActivity } from './window-activity.js';

/** Seconds from the start of the file. */
export interface SpeechRegion {
  startSeconds: number;
  endSeconds: number;
}

const RATE = 16_000;

/** The same window where it is known when anybody speaks: outside nobody does, inside at least the most probable one. */
export function withinRegions(
  window: WindowActivity,
  regions: readonly SpeechRegion[],
  { shift, size }: FrameGrid,
): WindowActivity {
  const { frames } = window;
  const activity = Uint8Array.from(window.activity);
  const speakers = Array.from({ length: speakersIn(window) }, (_, speaker) => speaker);
  let last = 0;
  for (let frame = 0; frame < frames; frame++) {
    const seconds = (window.start + frame * shift + size / 2) / RATE;
    const of = (speaker: number): number => activity[speaker * frames + frame] ?? 0;
    if (regions.some(({ startSeconds, endSeconds }) => startSeconds <= seconds && seconds < endSeconds)) {
      const likely = speakers.reduce((best, speaker) => (of(speaker) > of(best) ? speaker : best), last);
      if (of(likely) < SPEAKS) activity[likely * frames + frame] = 255;
      last = likely;
    } else for (const speaker of speakers) activity[speaker * frames + frame] = 0;
  }
  return { ...window, activity };
}
