/** Hours of mixed load, as users and their networks make it, and the server's memory meanwhile. */
import type { Clock } from '../../src/engine/clock.js';
import { loadClock } from './clock.js';
import type { HttpTarget, Outcome, Upload } from './http-target.js';
import { residentBytesOfAll } from '../processes/process-usage.js';
import { pick, pickKind, poissonArrivals, type Random } from './random.js';
import { fitSlope, type Slope } from '../reports/regression.js';

export interface SoakOptions {
  target: HttpTarget;
  pid: number;
  uploads: readonly Upload[];
  long: Upload;
  /** Requests a second. */
  rate: number;
  seconds: number;
  sampleSeconds: number;
  random: Random;
  onSample?: (sample: MemorySample) => void;
  clock?: Clock;
}

export interface MemorySample {
  /** Since the start. */
  seconds: number;
  residentBytes: number;
}

/** What a request is; the shares are of all requests. */
const KINDS = [
  { kind: 'clip', share: 0.72 },
  { kind: 'translated', share: 0.1 },
  { kind: 'truncated', share: 0.08 },
  { kind: 'hang-up', share: 0.08 },
  { kind: 'long', share: 0.02 },
] as const;
type Kind = (typeof KINDS)[number]['kind'];

export interface SoakResult {
  samples: MemorySample[];
  /** Answers by kind of request and status; 0: none came. */
  outcomes: Record<string, Record<number, number>>;
}

/** A client that gives up does so within this. */
const LONGEST_WAIT_MS = 1500;

/** Resolves when the last answer is there. Rejects when the server's process is gone. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { seconds, rate, random, clock = loadClock } = options;
  const outcomes: SoakResult['outcomes'] = {};
  const start = clock.now();
  const requests = poissonArrivals(random, rate, seconds).map((time) => ({ time, kind: pickKind(random, KINDS) }));
  const sending = Promise.all(
    requests.map(async ({ time, kind }) => {
      await clock.sleep(Math.max(0, start + time * 1000 - clock.now()));
      const { status } = await send(options, kind);
      const counts = (outcomes[kind] ??= {});
      counts[status] = (counts[status] ?? 0) + 1;
    }),
  );
  const samples = await sampleMemory(options, start);
  await sending;
  return { samples, outcomes };
}

async function send(options: SoakOptions, kind: Kind): Promise<Outcome> {
  const { target, uploads, long, random, clock = loadClock } = options;
  const upload = pick(random, uploads);
  const account = Math.floor(random() * target.accounts);
  switch (kind) {
    case 'clip':
      return target.send(upload, account);
    case 'translated':
      return target.send({ ...upload, translateTo: 'en' }, account);
    case 'long':
      return target.send(long, account);
    case 'truncated': {
      const bytes = upload.bytes.slice(0, Math.floor(random() * upload.bytes.size));
      return target.send({ ...upload, bytes }, account);
    }
    case 'hang-up':
      return target.send(upload, account, abortedAfter(random() * LONGEST_WAIT_MS, clock));
  }
}

function abortedAfter(milliseconds: number, clock: Clock): AbortSignal {
  const controller = new AbortController();
  void clock.sleep(milliseconds).then(() => controller.abort());
  return controller.signal;
}

async function sampleMemory(
  { pid, seconds, sampleSeconds, onSample, clock = loadClock }: SoakOptions,
  start: number,
): Promise<MemorySample[]> {
  const samples: MemorySample[] = [];
  for (let due = sampleSeconds; due <= seconds; due += sampleSeconds) {
    await clock.sleep(Math.max(0, start + due * 1000 - clock.now()));
    const sample = { seconds: (clock.now() - start) / 1000, residentBytes: residentBytesOfAll(pid) };
    samples.push(sample);
    onSample?.(sample);
  }
  return samples;
}

/** Bytes an hour, from the samples after the warm-up. */
export function memorySlope(samples: readonly MemorySample[], warmUpSeconds: number): Slope {
  const settled = samples.filter(({ seconds }) => seconds >= warmUpSeconds);
  return fitSlope(settled.map(({ seconds, residentBytes: bytes }) => [seconds / 3600, bytes]));
}
