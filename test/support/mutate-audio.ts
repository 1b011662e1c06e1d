/**
 * Spoils audio files: a seeded sequence of files that are cut, flipped, spliced, or lie in their headers. The same
 * seeds and number give the same files, byte for byte.
 */
import { extname } from 'node:path';
import { Mulberry32 } from './random.js';
import { lie } from './lying-headers.js';

export interface AudioSeed {
  /** File name; its extension is what a mutation may swap. */
  name: string;
  bytes: Buffer;
}

export interface MutatedAudio {
  name: string;
  bytes: Buffer;
  /** What was done, for the message of a failed test. */
  recipe: string;
}

export interface MutationOptions {
  count: number;
  seed: number;
}

type Mutation = (bytes: Buffer, random: Mulberry32, seeds: readonly AudioSeed[]) => Buffer;

/** Most of what matters in a file is near its beginning. */
function place(bytes: Buffer, random: Mulberry32): number {
  const reach = random.next() < 0.5 ? Math.min(bytes.length, 512) : bytes.length;
  return random.below(Math.max(1, reach));
}

function flipBits(bytes: Buffer, random: Mulberry32): Buffer {
  const out = Buffer.from(bytes);
  const count = 1 + random.below(random.pick([1, 8, 64, 512]));
  for (let flip = 0; flip < count && out.length > 0; flip++) {
    const at = place(out, random);
    out[at] = (out[at] ?? 0) ^ (1 << random.below(8));
  }
  return out;
}

function overwrite(bytes: Buffer, random: Mulberry32): Buffer {
  const out = Buffer.from(bytes);
  const at = place(out, random);
  const length = Math.min(out.length - at, 1 + random.below(4096));
  const filling = random.pick([Buffer.alloc(length), Buffer.alloc(length, 0xff), random.bytes(length)]);
  filling.copy(out, at);
  return out;
}

function truncate(bytes: Buffer, random: Mulberry32): Buffer {
  return bytes.subarray(0, place(bytes, random));
}

function cutHead(bytes: Buffer, random: Mulberry32): Buffer {
  return bytes.subarray(place(bytes, random));
}

function removeMiddle(bytes: Buffer, random: Mulberry32): Buffer {
  const at = place(bytes, random);
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(8192))]);
}

function repeatPart(bytes: Buffer, random: Mulberry32): Buffer {
  const at = place(bytes, random);
  const part = bytes.subarray(at, at + 1 + random.below(8192));
  const copies = Array.from({ length: 1 + random.below(8) }, () => part);
  return Buffer.concat([bytes.subarray(0, at), ...copies, bytes.subarray(at)]);
}

function splice(bytes: Buffer, random: Mulberry32, seeds: readonly AudioSeed[]): Buffer {
  const other = random.pick(seeds).bytes;
  return Buffer.concat([bytes.subarray(0, place(bytes, random)), other.subarray(place(other, random))]);
}

function append(bytes: Buffer, random: Mulberry32, seeds: readonly AudioSeed[]): Buffer {
  return Buffer.concat([bytes, random.pick(seeds).bytes]);
}

function junkInFront(bytes: Buffer, random: Mulberry32): Buffer {
  return Buffer.concat([random.bytes(1 + random.below(random.pick([16, 1024, 100_000]))), bytes]);
}

function junkBehind(bytes: Buffer, random: Mulberry32): Buffer {
  return Buffer.concat([bytes, random.bytes(1 + random.below(random.pick([16, 1024, 100_000])))]);
}

const MUTATIONS: Record<string, Mutation> = {
  flipBits,
  overwrite,
  truncate,
  cutHead,
  removeMiddle,
  repeatPart,
  splice,
  append,
  junkInFront,
  junkBehind,
  // Three times: the lies are as many as the containers.
  lie,
  'lie ': lie,
  'lie  ': lie,
};

const EXTENSIONS = ['.wav', '.flac', '.mp3', '.ogg', '.opus', '.m4a', '.txt', ''];

export function* mutateAudio(seeds: readonly AudioSeed[], { count, seed }: MutationOptions): Generator<MutatedAudio> {
  const random = new Mulberry32(seed);
  const names = Object.keys(MUTATIONS);
  for (let number = 0; number < count; number++) {
    const source = random.pick(seeds);
    let bytes = source.bytes;
    const recipe = [source.name];
    for (let steps = random.pick([1, 1, 1, 2, 3]); steps > 0; steps--) {
      const name = random.pick(names);
      bytes = MUTATIONS[name]?.(bytes, random, seeds) ?? bytes;
      recipe.push(name.trim());
    }
    const own = extname(source.name);
    const extension = random.next() < 0.2 ? random.pick(EXTENSIONS) : own;
    if (extension !== own) recipe.push(`named ${extension === '' ? 'without extension' : extension}`);
    yield { name: `mutated-${number}${extension}`, bytes, recipe: recipe.join(', ') };
  }
}
