/** Requests at times fixed beforehand: a slow server does not slow the load down, as a closed loop lets it. */
import type { Clock } from '../../src/engine/clock.js';
import { loadClock } from './clock.js';
import type { HttpTarget, Outcome, Upload } from './http-target.js';
import { pick, poissonArrivals, type Random } from './random.js';
import { percentiles, type Percentiles } from '../reports/statistics.js';

export interface LoadOptions {
  target: HttpTarget;
  uploads: readonly Upload[];
  /** Requests a second. */
  rate: number;
  seconds: number;
  random: Random;
  clock?: Clock;
}

export interface LoadResult {
  rate: number;
  sent: number;
  answered: number;
  /** 429 and 503. */
  refused: number;
  /** Other statuses, and connections that were lost. */
  failed: number;
  /** Of answers, from the time the request was due, milliseconds; null without answers. */
  latency: Percentiles | null;
  queue: Percentiles | null;
  /** Seconds of audio a second, of answered requests, until the last answer. */
  rtfx: number;
}

/** Runs the load and waits for the last answer. */
export async function openLoop(options: LoadOptions): Promise<LoadResult> {
  const { target, uploads, rate, seconds, random, clock = loadClock } = options;
  const start = clock.now();
  const requests = poissonArrivals(random, rate, seconds).map(async (time) => {
    const upload = pick(random, uploads);
    const account = Math.floor(random() * target.accounts);
    const due = start + time * 1000;
    await clock.sleep(Math.max(0, due - clock.now()));
    const outcome = await target.send(upload, account);
    // Counted from when it was due, so that a busy client does not hide what a user would have waited.
    return { upload, outcome: { ...outcome, milliseconds: clock.now() - due } };
  });
  const results = await Promise.all(requests);
  return { rate, ...tally(results, (clock.now() - start) / 1000) };
}

function tally(
  results: readonly { upload: Upload; outcome: Outcome }[],
  wallSeconds: number,
): Omit<LoadResult, 'rate'> {
  const answered = results.filter(({ outcome }) => outcome.status === 200);
  const refused = results.filter(({ outcome }) => outcome.status === 429 || outcome.status === 503).length;
  const waits = answered.map(({ outcome }) => outcome.phases['queue']).filter((wait) => wait !== undefined);
  const audioSeconds = answered.reduce((total, { upload }) => total + upload.seconds, 0);
  return {
    sent: results.length,
    answered: answered.length,
    refused,
    failed: results.length - answered.length - refused,
    latency: answered.length === 0 ? null : percentiles(answered.map(({ outcome }) => outcome.milliseconds)),
    queue: waits.length === 0 ? null : percentiles(waits),
    rtfx: audioSeconds / wallSeconds,
  };
}
