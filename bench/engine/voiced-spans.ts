/** Where a Silero model alone detects speech in recordings, by the program voiced_spans. */
import { spawnSync } from 'node:child_process';
import type { Interval } from '../reports/intervals.js';

/** Of each file, in order. Throws an Error with what the program says. */
export function voicedSpans(tool: string, model: string, paths: readonly string[]): Interval[][] {
  if (paths.length === 0) return [];
  const run = spawnSync(tool, [model, ...paths], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (run.status !== 0) throw new Error(`${tool} failed: ${run.stderr}`);
  const lines = run.stdout.trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as [number, number][]).map(([start, end]) => ({ start, end })));
}
