/** Tables of `bench live`. */
import type { Beside } from '../live/beside.js';
import { lagsOf } from '../live/lags.js';
import type { LiveRun, ProcessUsage } from '../live/measure.js';
import type { LiveWords } from '../live/words.js';
import { rounded, type Table } from './report.js';
import { percentile } from './statistics.js';

export interface MeasuredCell {
  sessions: number;
  /** What another account asked for meanwhile; null: nothing. */
  beside: Beside | null;
  /** Of each round. */
  rounds: { run: LiveRun; words: LiveWords }[];
}

const MIB = 2 ** 20;

export function liveTables(cells: readonly MeasuredCell[]): Table[] {
  const namesBeside = cells.some(({ beside }) => beside !== null);
  return [
    { title: 'Lag of results', rows: cells.map((cell) => lagRow(cell, namesBeside)) },
    { title: 'Words, percent', rows: cells.map(wordRow) },
    { title: 'What the server used', rows: cells.map(usageRow) },
    ...clipTables(cells.filter(({ beside }) => beside === 'clips')),
  ];
}

type Row = Table['rows'][number];

function clipTables(cells: readonly MeasuredCell[]): Table[] {
  if (cells.length === 0) return [];
  return [{ title: "Another account's clip, alone and beside the sessions", rows: cells.map(clipRow) }];
}

function clipRow({ sessions, rounds }: MeasuredCell): Row {
  const alone = rounds.flatMap(({ run }) => run.clips?.alone ?? []);
  const beside = rounds.flatMap(({ run }) => run.clips?.beside ?? []);
  const ratio = percentile(beside, 0.95) / percentile(alone, 0.95);
  return {
    sessions,
    'clips alone': alone.length,
    'alone p50 ms': share(alone, 0.5),
    'alone p95 ms': share(alone, 0.95),
    'clips beside': beside.length,
    'beside p50 ms': share(beside, 0.5),
    'beside p95 ms': share(beside, 0.95),
    'ratio of p95': Number.isFinite(ratio) ? rounded(ratio) : null,
  };
}

function lagRow({ sessions, beside, rounds }: MeasuredCell, namesBeside: boolean): Row {
  const all = rounds.flatMap(({ run }) => run.sessions);
  const fed = all.filter((session) => session !== null);
  const lags = fed.map(lagsOf);
  const finals = lags.flatMap((lag) => lag.finals);
  const covered = lags.flatMap((lag) => lag.covered);
  const committed = lags.flatMap((lag) => lag.committed);
  const answer = fed.flatMap(({ results }) => results.map((result) => result.answer));
  return {
    sessions,
    ...(namesBeside ? { beside: beside ?? 'nothing' } : {}),
    refused: all.length - fed.length,
    'cut off': fed.filter(({ isComplete }) => !isComplete).length,
    finals: finals.length,
    'final p50 ms': share(finals, 0.5),
    'final p95 ms': share(finals, 0.95),
    'covered p50 ms': share(covered, 0.5),
    'covered p95 ms': share(covered, 0.95),
    'committed p50 ms': share(committed, 0.5),
    failed: answer.filter(({ kind }) => kind === 'failed').length,
    contradicted: answer.filter((one) => one.kind === 'final' && one.contradicts).length,
    'fed late p95 ms': share(
      fed.flatMap(({ lateMs }) => lateMs),
      0.95,
    ),
  };
}

function wordRow({ sessions, rounds }: MeasuredCell): Row {
  const mean = (value: (words: LiveWords) => number | null): number | null => {
    const values = rounds.map(({ words }) => value(words)).filter((one) => one !== null);
    return values.length === 0 ? null : rounded(values.reduce((sum, one) => sum + one, 0) / values.length);
  };
  return {
    sessions,
    'wrong, live': mean(({ live }) => live),
    'wrong, in one piece': mean(({ inOnePiece }) => inOnePiece),
    'live beside one piece': mean(({ difference }) => difference),
  };
}

function usageRow({ sessions, rounds }: MeasuredCell): Row {
  const usage = (part: (run: LiveRun) => number | null): number | null => {
    const values = rounds.map(({ run }) => part(run)).filter((one) => one !== null);
    return values.length === 0 ? null : rounded(Math.max(...values));
  };
  const grown = (process: ProcessUsage | undefined, run: LiveRun): number | null => {
    const served = run.sessions.filter((session) => session !== null).length;
    return process === undefined || served === 0 ? null : (process.most - process.before) / MIB / served;
  };
  return {
    sessions,
    'server cores': usage(({ usage }) => usage?.server.cores ?? null),
    'engine cores': usage(({ usage }) => usage?.engine.cores ?? null),
    'measuring cores': usage(({ ownCores }) => ownCores),
    'server MiB': usage(({ usage }) => (usage === null ? null : usage.server.most / MIB)),
    'engine MiB': usage(({ usage }) => (usage === null ? null : usage.engine.most / MIB)),
    'server MiB a session': usage((run) => grown(run.usage?.server, run)),
    'engine MiB a session': usage((run) => grown(run.usage?.engine, run)),
  };
}

function share(values: readonly number[], part: number): number | null {
  return values.length === 0 ? null : rounded(percentile(values, part));
}
