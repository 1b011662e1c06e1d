import type { SpeakerTurn } from './speaker-turn.js';
import { SPEAKS, type FrameGrid, type WindowActivity } from './window-activity.js';

/** A window, and which voice each of its speakers is (-1: nobody's). */
export interface NamedWindow extends WindowActivity {
  voices: readonly number[];
}

/** Samples of a frame of the answer: 20 ms. */
const STEP = 320;
const RATE = 16_000;

/** Seconds. */
const LONGEST_GAP = 0.3;
const SHORTEST_TURN = 0.1;
/**
 * Of a person: what is missing of one more, at most. Chosen on conversations: what the segmentation is unsure of is
 * speech more often than not.
 */
const IN_DOUBT = 0.7;

/**
 * Who speaks when, from overlapping windows in the order of their start. Each frame has as many speakers as the windows
 * report on average, in doubt one more. They are the ones that most of the windows detect. Ordered by start; speakers
 * are S1, S2, … in the order of their first speech.
 */
export function turnsOf(windows: readonly NamedWindow[], grid: FrameGrid, seconds: number): SpeakerTurn[] {
  const voices = 1 + windows.reduce((most, window) => Math.max(most, ...window.voices), -1);
  const open = Array.from({ length: voices }, () => new OpenTurn());
  const cover = new CoveringWindows(windows, grid);
  const frames = Math.ceil((seconds * RATE) / STEP);
  for (let frame = 0; frame < frames; frame++) {
    const speaking = cover.speakingAt(frame * STEP + STEP / 2, voices);
    for (const [voice, turn] of open.entries()) if (speaking.has(voice)) turn.extendTo(frame);
  }
  const spans = open.flatMap((turn, voice) => turn.finished().map((span) => ({ ...span, voice })));
  return named(spans, seconds);
}

interface Span {
  /** Frames; the last one is not in it. */
  begin: number;
  end: number;
}

/** One voice's speech: short gaps are bridged, and what is too short to be speech is dropped. */
class OpenTurn {
  readonly #spans: Span[] = [];

  extendTo(frame: number): void {
    const last = this.#spans.at(-1);
    if (last !== undefined && (frame - last.end) * STEP <= LONGEST_GAP * RATE) last.end = frame + 1;
    else this.#spans.push({ begin: frame, end: frame + 1 });
  }

  finished(): Span[] {
    return this.#spans.filter(({ begin, end }) => (end - begin) * STEP >= SHORTEST_TURN * RATE);
  }
}

/** The windows around a place that moves on. */
class CoveringWindows {
  #first = 0;

  constructor(
    private readonly windows: readonly NamedWindow[],
    private readonly grid: FrameGrid,
  ) {}

  /** Who speaks at that sample; places never go back. */
  speakingAt(sample: number, voices: number): Set<number> {
    const scores = new Float64Array(voices);
    let [weights, people] = [0, 0];
    for (const { window, frame } of this.at(sample)) {
      const weight = hamming((frame + 0.5) / window.frames);
      weights += weight;
      people += weight * this.addTo(scores, window, frame, weight);
    }
    if (weights === 0) return new Set();
    return loudest(scores, Math.floor(people / weights + IN_DOUBT), (0.25 * SPEAKS * weights) / 255);
  }

  private *at(sample: number): Generator<{ window: NamedWindow; frame: number }> {
    const { shift, size } = this.grid;
    const frameOf = ({ start }: NamedWindow): number => Math.round((sample - start - size / 2) / shift);
    const isOver = (window: NamedWindow | undefined): boolean =>
      window !== undefined && frameOf(window) > window.frames;
    while (isOver(this.windows[this.#first])) this.#first += 1;
    for (let index = this.#first; index < this.windows.length; index++) {
      const window = this.windows[index];
      if (window === undefined || window.start > sample) return;
      // Sound within half a frame of an edge belongs to the frame at that edge.
      const frame = Math.min(Math.max(frameOf(window), 0), window.frames - 1);
      if (Math.abs(frame - frameOf(window)) <= 1 && window.frames > 0) yield { window, frame };
    }
  }

  /** People in that frame of the window; to each voice its most probable speaker is added. */
  private addTo(scores: Float64Array, window: NamedWindow, frame: number, weight: number): number {
    const probabilities = new Map<number, number>();
    for (const [speaker, voice] of window.voices.entries()) {
      const probability = (window.activity[speaker * window.frames + frame] ?? 0) / 255;
      if (voice >= 0) probabilities.set(voice, Math.max(probabilities.get(voice) ?? 0, probability));
    }
    let people = 0;
    for (const [voice, probability] of probabilities) {
      scores[voice] = (scores[voice] ?? 0) + weight * probability;
      people += probability;
    }
    return people;
  }
}

/** A frame in the middle of its window has context on both sides. */
function hamming(place: number): number {
  return 0.54 - 0.46 * Math.cos(2 * Math.PI * place);
}

/** The `count` voices of the highest scores, of those that reach `least`. */
function loudest(scores: Float64Array, count: number, least: number): Set<number> {
  const order = [...scores.keys()]
    .filter((voice) => (scores[voice] ?? 0) >= least)
    .sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0));
  return new Set(order.slice(0, count));
}

function named(spans: readonly (Span & { voice: number })[], seconds: number): SpeakerTurn[] {
  const ordered = [...spans].sort((one, other) => one.begin - other.begin || one.end - other.end);
  const names = new Map<number, string>();
  return ordered.map(({ begin, end, voice }) => {
    const speaker = names.get(voice) ?? `S${names.size + 1}`;
    names.set(voice, speaker);
    return {
      startSeconds: (begin * STEP) / RATE,
      endSeconds: Math.min((end * STEP) / RATE, seconds),
      speaker,
    };
  });
}
