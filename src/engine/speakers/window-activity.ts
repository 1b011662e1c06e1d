/** The segmentation of one window. Its speakers have no names yet. */
export interface WindowActivity {
  /** Samples from the start of the file. */
  start: number;
  frames: number;
  /** [speakers, frames] of the probability that each speaks, in 255ths. */
  activity: Uint8Array;
}

/** How the frames of a segmentation lie on the samples of its window. */
export interface FrameGrid {
  /** Samples between the starts of two neighbouring frames. */
  shift: number;
  /** Samples that a frame stands for, from its start; its time is their middle. */
  size: number;
}

const RATE = 16_000;
/** From here on somebody is taken to speak: half of 255. */
export const SPEAKS = 128;

export function speakersIn({ activity, frames }: WindowActivity): number {
  return frames === 0 ? 0 : activity.length / frames;
}

/** Whether `speaker` of the window speaks in that frame. */
export function speaksIn({ activity, frames }: WindowActivity, speaker: number, frame: number): boolean {
  return (activity[speaker * frames + frame] ?? 0) >= SPEAKS;
}

/** Seconds in which anybody speaks, from the sample `from` of the file on. */
export function spokenSeconds(window: WindowActivity, from: number, { shift, size }: FrameGrid): number {
  const speakers = Array.from({ length: speakersIn(window) }, (_, speaker) => speaker);
  let frames = 0;
  for (let frame = 0; frame < window.frames; frame++) {
    if (window.start + frame * shift + size / 2 < from) continue;
    if (speakers.some((speaker) => speaksIn(window, speaker, frame))) frames += 1;
  }
  return (frames * shift) / RATE;
}

/** Sample ranges [begin, end) of the window in which `speaker` speaks: alone, or at all. */
export function spokenSpans(
  window: WindowActivity,
  speaker: number,
  { shift, size }: FrameGrid,
  alone: boolean,
): [begin: number, end: number][] {
  const spans: [number, number][] = [];
  const others = Array.from({ length: speakersIn(window) }, (_, other) => other).filter(
    (other) => alone && other !== speaker,
  );
  // The middle of a frame, half a step to both sides.
  const offset = (size - shift) / 2;
  for (let frame = 0; frame < window.frames; frame++) {
    if (!speaksIn(window, speaker, frame)) continue;
    if (others.some((other) => speaksIn(window, other, frame))) continue;
    const [begin, end] = [frame, frame + 1].map((edge) => Math.max(0, Math.round(offset + edge * shift)));
    const last = spans.at(-1);
    if (last !== undefined && last[1] === begin) last[1] = end ?? begin;
    else spans.push([begin ?? 0, end ?? 0]);
  }
  return spans;
}

/** The samples of these spans, one behind the other. */
export function spokenSamples(samples: Float32Array, spans: readonly (readonly [number, number])[]): Float32Array {
  const parts = spans.map(([begin, end]) => samples.subarray(begin, end));
  const out = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    out.set(part, place);
    place += part.length;
  }
  return out;
}
