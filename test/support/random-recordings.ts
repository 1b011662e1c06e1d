/** Recordings that nobody would make: speech cut anywhere, joined with silence and noise, of 20 ms to half a minute. */
import { readFileSync } from 'node:fs';
import type { Mulberry32 } from './random.js';

const SAMPLES_PER_SECOND = 16_000;
const BYTES_PER_SAMPLE = 2;
const MOST_PARTS = 7;
const SHORTEST_SECONDS = 0.02;
const LONGEST_SILENCE_SECONDS = 4;
const LONGEST_NOISE_SECONDS = 2;

/** What a recording is made of: 16-bit samples at 16 kHz, and what each of its parts is. */
export interface RandomRecording {
  pcm: Buffer;
  recipe: string;
}

/** 16-bit samples of a plain WAV file. */
export function pcmOfWav(path: string): Buffer {
  const file = readFileSync(path);
  const data = file.indexOf('data');
  return file.subarray(data + 8, data + 8 + file.readUInt32LE(data + 4));
}

export function randomRecording(random: Mulberry32, speech: readonly Buffer[]): RandomRecording {
  const parts = Array.from({ length: 1 + random.below(MOST_PARTS) }, () => randomPart(random, speech));
  return {
    pcm: Buffer.concat(parts.map(({ pcm }) => pcm)),
    recipe: parts.map(({ recipe }) => recipe).join(', '),
  };
}

function randomPart(random: Mulberry32, speech: readonly Buffer[]): RandomRecording {
  switch (random.below(6)) {
    case 0:
      return named('silence', silent(random, LONGEST_SILENCE_SECONDS));
    case 1:
      return named('noise', noisy(random, silent(random, LONGEST_NOISE_SECONDS), 8000));
    case 2:
      return named('noisy speech', noisy(random, Buffer.from(random.pick(speech)), 4000));
    case 3:
      return named('cut', cut(random, random.pick(speech)));
    case 4:
      return named('quiet', scaled(random.pick(speech), 0.01 + 0.2 * random.next()));
    default:
      return named('speech', random.pick(speech));
  }
}

function named(kind: string, pcm: Buffer): RandomRecording {
  const seconds = pcm.length / BYTES_PER_SAMPLE / SAMPLES_PER_SECOND;
  return { pcm, recipe: `${kind} ${seconds.toFixed(2)} s` };
}

function silent(random: Mulberry32, longest: number): Buffer {
  const seconds = SHORTEST_SECONDS + (longest - SHORTEST_SECONDS) * random.next() ** 2;
  return Buffer.alloc(Math.round(seconds * SAMPLES_PER_SECOND) * BYTES_PER_SAMPLE);
}

function noisy(random: Mulberry32, pcm: Buffer, loudest: number): Buffer {
  const level = loudest * random.next() ** 2;
  return changed(pcm, (sample) => sample + level * (2 * random.next() - 1));
}

function cut(random: Mulberry32, pcm: Buffer): Buffer {
  const samples = pcm.length / BYTES_PER_SAMPLE;
  const shortest = SHORTEST_SECONDS * SAMPLES_PER_SECOND;
  const length = shortest + random.below(samples - shortest);
  const first = random.below(samples - length + 1);
  return pcm.subarray(first * BYTES_PER_SAMPLE, (first + length) * BYTES_PER_SAMPLE);
}

function scaled(pcm: Buffer, gain: number): Buffer {
  return changed(pcm, (sample) => sample * gain);
}

function changed(pcm: Buffer, change: (sample: number) => number): Buffer {
  const result = Buffer.alloc(pcm.length);
  for (let at = 0; at < pcm.length; at += BYTES_PER_SAMPLE) {
    const sample = Math.round(change(pcm.readInt16LE(at)));
    result.writeInt16LE(Math.max(-32_768, Math.min(32_767, sample)), at);
  }
  return result;
}
