/** Who speaks in a live session: a voice gets its number with its first turn, and keeps it. */
import type { LiveDiarizer, LiveTurn } from '../types.js';
import { OwnLikeness } from './own-likeness.js';
import type { SpeakerEngine } from './speaker-engine.js';
import type { VoicePiece } from './stretch-voices.js';
import { addScaled, normalized, scalarProduct } from './vectors.js';

/** A shorter turn shows too little of a voice to make a new one. */
const SHORTEST_TURN_SECONDS = 2;
/**
 * A turn is a voice's from this cosine on, in units of the root of the session's own likeness: how alike the speech of
 * one voice is depends on the model and on the noise. Chosen on conversations; from 0.5 to 0.6 little changes.
 */
const ALIKE = 0.55;
const MOST_VOICES = 20;
const RATE = 16_000;

export class SessionSpeakers implements LiveDiarizer {
  /** By number: the sum of its turns, by their seconds. */
  readonly #voices: Float32Array[] = [];
  readonly #likeness = new OwnLikeness();
  #last = 0;
  #order: Promise<unknown> = Promise.resolve();

  constructor(private readonly engine: Pick<SpeakerEngine, 'voicesIn'>) {}

  turnsIn(samples: Int16Array, signal?: AbortSignal): Promise<LiveTurn[]> {
    const pieces = this.engine.voicesIn(samples, signal);
    // It may fail before its turn comes.
    pieces.catch(() => undefined);
    const turns = this.#order.then(async () => this.#named(await pieces, samples.length / RATE));
    this.#order = turns.catch(() => undefined);
    return turns;
  }

  #named(pieces: readonly VoicePiece[], seconds: number): LiveTurn[] {
    this.#likeness.add(
      pieces.flatMap(({ local, voice }) =>
        voice?.isReliable === true ? [{ vector: voice.vector, weight: voice.seconds, local }] : [],
      ),
    );
    const turns = turnsOf(pieces).map((turn) => {
      this.#last = this.#numberOf(turn);
      const { startSeconds, endSeconds } = turn;
      return { startSeconds, endSeconds, speaker: this.#last };
    });
    return turns.length > 0 ? turns : [{ startSeconds: 0, endSeconds: seconds, speaker: this.#last }];
  }

  /** A short turn is a known voice's that it resembles, else the last speaker's. */
  #numberOf({ vector, seconds }: Turn): number {
    if (vector === null) return this.#last;
    const [nearest, cosine] = this.#nearest(vector);
    const isKnown = nearest !== null && cosine >= ALIKE * Math.sqrt(this.#likeness.mean);
    if (seconds < SHORTEST_TURN_SECONDS) return isKnown ? nearest : this.#last;
    const number = isKnown || (nearest !== null && this.#voices.length >= MOST_VOICES) ? nearest : this.#voices.length;
    const sum = (this.#voices[number] ??= new Float32Array(vector.length));
    addScaled(sum, vector, seconds);
    return number;
  }

  #nearest(vector: Float32Array): [number: number | null, cosine: number] {
    let [number, cosine]: [number | null, number] = [null, -Infinity];
    for (const [index, sum] of this.#voices.entries()) {
      const product = scalarProduct(normalized(sum), vector);
      if (product > cosine) [number, cosine] = [index, product];
    }
    return [number, cosine];
  }
}

interface Turn {
  startSeconds: number;
  endSeconds: number;
  /** Of speech. */
  seconds: number;
  /** null: too little speech. */
  vector: Float32Array | null;
}

/** Pieces of one speaker that follow one another are one turn. */
function turnsOf(pieces: readonly VoicePiece[]): Turn[] {
  const groups: VoicePiece[][] = [];
  for (const piece of pieces) {
    const last = groups.at(-1);
    if (last?.[0]?.local === piece.local) last.push(piece);
    else groups.push([piece]);
  }
  return groups.map((group) => ({
    startSeconds: group[0]?.startSeconds ?? 0,
    endSeconds: Math.max(...group.map(({ endSeconds }) => endSeconds)),
    seconds: group.reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0),
    vector: direction(group),
  }));
}

function direction(pieces: readonly VoicePiece[]): Float32Array | null {
  const voices = pieces.flatMap(({ voice }) => (voice === null ? [] : [voice]));
  const [first] = voices;
  if (first === undefined) return null;
  const sum = new Float32Array(first.vector.length);
  for (const { vector, seconds } of voices) addScaled(sum, vector, seconds);
  return normalized(sum);
}
