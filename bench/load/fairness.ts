/** What a short clip waits while a long file runs, against the same clip on an idle server. */
import { readFileSync } from 'node:fs';
import type { Clock } from '../../src/engine/clock.js';
import { loadClock } from './clock.js';
import type { HttpTarget, Upload } from './http-target.js';
import { median, percentile } from '../reports/statistics.js';

export interface FairnessOptions {
  target: HttpTarget;
  short: Upload;
  long: Upload;
  /** Short clips, one after the other, in each phase. */
  count: number;
  /** No more of them than fit in this many seconds; a phase has at least one. */
  limitSeconds: number;
  clock?: Clock;
}

export interface Fairness {
  idleMs: number[];
  busyMs: number[];
  idleP95: number;
  busyP95: number;
  /** Busy to idle, of the medians and the 95th percentiles. */
  medianRatio: number;
  p95Ratio: number;
}

/** Until the long file has been received and its first windows run. */
const HEAD_START_MS = 1000;

/** The long file is hung up on at the end, so it is never charged. Rejects with an Error when a clip fails. */
export async function measureFairness(options: FairnessOptions): Promise<Fairness> {
  const { target, short, long, clock = loadClock } = options;
  const warmUp = await target.send(short, 0);
  if (warmUp.status !== 200) throw failure(target, warmUp.status);
  const idleMs = await shortClips(options);
  const hangUp = new AbortController();
  let longEnded = false;
  // Another account's file, where there is more than one.
  const running = target.send(long, 1, hangUp.signal).then(() => (longEnded = true));
  await clock.sleep(HEAD_START_MS);
  try {
    const busyMs = await shortClips(options, () => longEnded);
    if (busyMs.length === 0)
      throw new Error(`The long file was done at once; take a longer one than ${long.seconds} s.`);
    return summarizeFairness(idleMs, busyMs);
  } finally {
    hangUp.abort();
    await running;
  }
}

export function summarizeFairness(idleMs: number[], busyMs: number[]): Fairness {
  const idleP95 = percentile(idleMs, 0.95);
  const busyP95 = percentile(busyMs, 0.95);
  const medianRatio = median(busyMs) / median(idleMs);
  return { idleMs, busyMs, idleP95, busyP95, medianRatio, p95Ratio: busyP95 / idleP95 };
}

/**
 * A clip during which the long file ended had the machine to itself in part and does not count, unless it is the first:
 * on a server that takes one request at a time it has waited for that end.
 */
async function shortClips(
  { target, short, count, limitSeconds, clock = loadClock }: FairnessOptions,
  isOver: () => boolean = () => false,
): Promise<number[]> {
  const times: number[] = [];
  const deadline = clock.now() + limitSeconds * 1000;
  while (times.length < count && (times.length === 0 || clock.now() < deadline)) {
    if (isOver()) return times;
    const { status, milliseconds } = await target.send(short, 0);
    if (isOver() && times.length > 0) return times;
    if (status !== 200) throw failure(target, status);
    times.push(milliseconds);
  }
  return times;
}

function failure({ name }: HttpTarget, status: number): Error {
  const answer = status === 0 ? 'no answer' : `status ${status}`;
  return new Error(`${name}: ${answer} to a short clip. Are the URL and the keys right, and are there credits?`);
}

const CHUNK_HEADER_BYTES = 8;
const RIFF_HEADER_BYTES = 12;
const FORMAT_BYTES = 16;
const PCM = 1;

/** A WAV file that says a PCM WAV file's samples over and over. Throws an Error for any other file. */
export function repeatedWav(path: string, atLeastSeconds: number, language: string): Upload {
  const file = readFileSync(path);
  const format = chunkOf(file, 'fmt ');
  const data = chunkOf(file, 'data');
  if (format === null || data === null || data.length === 0 || format.readUInt16LE(0) !== PCM) {
    throw new Error(`${path} is not a PCM WAV file; name a long file with --long.`);
  }
  const bytesPerSecond = format.readUInt32LE(8);
  const times = Math.ceil((atLeastSeconds * bytesPerSecond) / data.length);
  const header = wavHeader(format.subarray(0, FORMAT_BYTES), data.length * times);
  const bytes = new Blob([header, ...Array.from({ length: times }, () => data)]);
  return { name: 'long.wav', bytes, seconds: (data.length * times) / bytesPerSecond, language };
}

/** The content of a RIFF chunk. */
function chunkOf(file: Buffer, id: string): Buffer | null {
  for (let at = RIFF_HEADER_BYTES; at + CHUNK_HEADER_BYTES <= file.length;) {
    const begin = at + CHUNK_HEADER_BYTES;
    const size = file.readUInt32LE(at + 4);
    if (file.toString('latin1', at, at + 4) === id) return file.subarray(begin, begin + size);
    at = begin + size + (size % 2);
  }
  return null;
}

function wavHeader(format: Buffer, dataBytes: number): Buffer {
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  const chunks = [Buffer.from('WAVEfmt '), number(format.length), format, Buffer.from('data'), number(dataBytes)];
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return Buffer.concat([Buffer.from('RIFF'), number(length + dataBytes), ...chunks]);
}
