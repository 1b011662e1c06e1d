/** Bytes of random signals: noise, which is speech to a level, and silence between it. */
import type { Mulberry32 } from '../random.js';

export type Encoding = 'linear16' | 'linear32' | 'mulaw' | 'alaw';

export interface SignalFormat {
  encoding: Encoding;
  sampleRate: number;
  channels: number;
}

const BYTES: Readonly<Record<Encoding, number>> = { linear16: 2, linear32: 4, mulaw: 1, alaw: 1 };
/** A sample of silence in G.711. */
const SILENT = { mulaw: 0xff, alaw: 0xd5 };
const LOUDEST = 8000;
/** Of all formats alike; a random part of it is a burst. */
const NOISE_SAMPLES = 1 << 18;

export class RandomSignal {
  readonly #noise: Buffer;
  readonly #silence: Buffer;
  readonly #frameBytes: number;
  /** Behind what was given out. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(
    private readonly random: Mulberry32,
    private readonly format: SignalFormat,
  ) {
    this.#frameBytes = BYTES[format.encoding] * format.channels;
    this.#noise = noiseOf(format.encoding);
    this.#silence = silenceOf(format.encoding);
  }

  bytesOf(seconds: number): number {
    return Math.round(seconds * this.format.sampleRate) * this.#frameBytes;
  }

  secondsOf(bytes: number): number {
    return bytes / this.#frameBytes / this.format.sampleRate;
  }

  /** The next bytes of the signal, as many as are asked for: a frame may be cut in two. */
  next(bytes: number): Buffer {
    const parts = [this.#rest];
    for (let length = this.#rest.length; length < bytes; length += parts.at(-1)?.length ?? 0)
      parts.push(this.#stretch());
    const all = Buffer.concat(parts);
    this.#rest = all.subarray(bytes);
    return all.subarray(0, bytes);
  }

  #stretch(): Buffer {
    const isLoud = this.random.below(5) < 3;
    const seconds = isLoud ? 0.02 + 2 * this.random.next() ** 2 : 0.02 + 1.2 * this.random.next();
    const source = isLoud ? this.#noise : this.#silence;
    const bytes = Math.min(source.length, Math.max(this.#frameBytes, this.bytesOf(seconds)));
    const first = this.random.below(Math.floor((source.length - bytes) / this.#frameBytes) + 1) * this.#frameBytes;
    return source.subarray(first, first + bytes);
  }
}

const made = new Map<Encoding, Buffer>();

function noiseOf(encoding: Encoding): Buffer {
  const known = made.get(encoding);
  if (known !== undefined) return known;
  const noise = Buffer.alloc(NOISE_SAMPLES * BYTES[encoding]);
  let state = 1;
  for (let at = 0; at < NOISE_SAMPLES; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const sample = Math.round((state / 2 ** 31 - 1) * LOUDEST);
    if (encoding === 'linear16') noise.writeInt16LE(sample, 2 * at);
    else if (encoding === 'linear32') noise.writeFloatLE(sample / 32_768, 4 * at);
    // Any byte is a sample of G.711, most of them loud.
    else noise[at] = state >>> 24;
  }
  made.set(encoding, noise);
  return noise;
}

function silenceOf(encoding: Encoding): Buffer {
  const bytes = NOISE_SAMPLES * BYTES[encoding];
  return encoding === 'linear16' || encoding === 'linear32'
    ? Buffer.alloc(bytes)
    : Buffer.alloc(bytes, SILENT[encoding]);
}
