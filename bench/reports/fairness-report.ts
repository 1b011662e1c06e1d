/** Short clips behind a long file: which ones, and what was found. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BarChart } from './charts.js';
import { measureClips } from '../load/clips.js';
import { repeatedWav, type Fairness } from '../load/fairness.js';
import { readUpload, type Upload } from '../load/http-target.js';
import { rounded, type Table } from './report.js';
import { median } from './statistics.js';
import { loadBinding } from '../../src/engine/binding.js';
import { packageRoot } from '../../src/package-root.js';
import type { BenchModel } from '../commands/bench-models.js';

export const PLAIN_WAV = join(packageRoot, 'test', 'fixtures', 'audio', 'samples', 'en-wav16.wav');
const SHORT_SECONDS = 3;

export interface FairnessUploadOptions {
  /** Path of the long file; a sample repeated where it is missing. */
  long?: string;
  /** Of the repeated sample. */
  longSeconds: number;
}

export interface FairnessUploads {
  short: Upload;
  long: Upload;
}

export interface NamedFairness {
  name: string;
  fairness: Fairness;
}

/** The short clip is the one nearest to three seconds. */
export async function fairnessUploads(
  { long, longSeconds }: FairnessUploadOptions,
  { policy }: BenchModel,
  uploads: readonly Upload[],
): Promise<FairnessUploads> {
  const distance = ({ seconds }: Upload): number => Math.abs(seconds - SHORT_SECONDS);
  const [short] = [...uploads].sort((a, b) => distance(a) - distance(b));
  if (short === undefined) throw new Error('There are no clips.');
  if (long === undefined) return { short, long: repeatedWav(PLAIN_WAV, longSeconds, 'auto') };
  if (!existsSync(long)) throw new Error(`There is no audio at ${long}.`);
  const [measured] = await measureClips(loadBinding(), policy, [{ path: long, language: null }]);
  return { short, long: readUpload(long, measured?.seconds ?? 0, 'auto') };
}

export function fairnessTable(measured: readonly NamedFairness[], shortSeconds: number, longSeconds: number): Table {
  const rows = measured.map(({ name, fairness }) => ({
    server: name,
    'idle p50/p95 ms': `${Math.round(median(fairness.idleMs))}/${Math.round(fairness.idleP95)}`,
    'behind a long file p50/p95 ms': `${Math.round(median(fairness.busyMs))}/${Math.round(fairness.busyP95)}`,
    clips: fairness.busyMs.length,
    'ratio of p50': rounded(fairness.medianRatio),
    'ratio of p95': rounded(fairness.p95Ratio),
  }));
  return {
    title: `A clip of ${rounded(shortSeconds)} s while a file of ${Math.round(longSeconds)} s runs`,
    rows,
  };
}

export function fairnessChart(measured: readonly NamedFairness[]): BarChart {
  const values = (of: (fairness: Fairness) => number): number[] =>
    measured.map(({ fairness }) => Math.round(of(fairness)));
  return {
    ...{
      kind: 'bars',
      name: 'fairness',
      title: 'A short clip, alone and behind a long file',
      x: '',
      y: 'ms',
    },
    categories: measured.map(({ name }) => name),
    series: [
      { name: 'alone, p50', values: values(({ idleMs }) => median(idleMs)) },
      { name: 'alone, p95', values: values(({ idleP95 }) => idleP95) },
      { name: 'behind the file, p50', values: values(({ busyMs }) => median(busyMs)) },
      { name: 'behind the file, p95', values: values(({ busyP95 }) => busyP95) },
    ],
  };
}
