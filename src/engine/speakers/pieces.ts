import { speakersIn, speaksIn, type FrameGrid, type WindowActivity } from './window-activity.js';

const RATE = 16_000;
/** Seconds. */
const PIECE = 2;
const BRIDGED = 0.3;

export interface PiecedWindow extends WindowActivity {
  /** Of each piece, the speaker that the segmentation takes it for. */
  locals: readonly number[];
}

/**
 * The same window with each speaker's speech in pieces of about two seconds, each piece as a speaker of its own. Where
 * the segmentation takes two people for one, the embedding can still distinguish their pieces.
 */
export function inPieces(window: WindowActivity, { shift }: FrameGrid): PiecedWindow {
  const { frames, activity } = window;
  const framesIn = (seconds: number): number => Math.max(1, Math.round((seconds * RATE) / shift));
  const spans = Array.from({ length: speakersIn(window) }, (_, speaker) =>
    stretches(window, speaker, framesIn(BRIDGED))
      .flatMap((stretch) => cut(stretch, framesIn(PIECE)))
      .map((span) => ({ ...span, speaker })),
  ).flat();
  const pieces = new Uint8Array(spans.length * frames);
  for (const [index, { speaker, begin, end }] of spans.entries())
    pieces.set(activity.subarray(speaker * frames + begin, speaker * frames + end), index * frames + begin);
  return { ...window, activity: pieces, locals: spans.map(({ speaker }) => speaker) };
}

interface Stretch {
  /** Frames; the last one is not in it. */
  begin: number;
  end: number;
}

/** Speech of one of them, over short gaps. */
function stretches(window: WindowActivity, speaker: number, bridged: number): Stretch[] {
  const found: Stretch[] = [];
  for (let frame = 0; frame < window.frames; frame++) {
    if (!speaksIn(window, speaker, frame)) continue;
    const last = found.at(-1);
    if (last !== undefined && frame - last.end < bridged) last.end = frame + 1;
    else found.push({ begin: frame, end: frame + 1 });
  }
  return found;
}

/** Into equal parts of about that length. */
function cut({ begin, end }: Stretch, length: number): Stretch[] {
  const count = Math.max(1, Math.round((end - begin) / length));
  const edge = (index: number): number => begin + Math.round(((end - begin) * index) / count);
  return Array.from({ length: count }, (_, index) => ({ begin: edge(index), end: edge(index + 1) }));
}
