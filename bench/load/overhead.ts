/** What HTTP, upload, queue and billing add to a clip's time in the engine: the same clips both ways, in pairs. */
import type { SpeechEngine } from '../../src/engine/types.js';
import { transcribeClip } from '../engine/bench-engine.js';
import { languageFor, type Clip } from './clips.js';
import { readUpload, type HttpTarget } from './http-target.js';
import { median } from '../reports/statistics.js';

/** Milliseconds of one clip. */
export interface ClipTimes {
  /** From the first call or byte to the text. */
  total: number;
  /** Of the body; 0 without HTTP. */
  upload: number;
  /** From admission to the first window's start. */
  queue: number;
  /** From the first window's start to the last window's end. */
  speech: number;
  /** All else: opening the file; with HTTP also the ledger, the answer, and the way there and back. */
  rest: number;
}

export interface OverheadPair {
  clip: string;
  engine: ClipTimes;
  server: ClipTimes;
}

export interface OverheadOptions {
  engine: SpeechEngine;
  target: HttpTarget;
  clips: readonly Clip[];
  language: string;
  rounds: number;
  onRound?: (round: number) => void;
}

/** Both hands of a pair are measured one right after the other; every other round the server goes first. */
export async function measureOverhead(options: OverheadOptions): Promise<OverheadPair[]> {
  const { clips, rounds, onRound } = options;
  const pairs: OverheadPair[] = [];
  for (let round = -1; round < rounds; round++) {
    if (round >= 0) onRound?.(round);
    for (const clip of clips) {
      const pair = await measurePair(options, clip, round % 2 === 1);
      // The first round warms up.
      if (round >= 0) pairs.push(pair);
    }
  }
  return pairs;
}

async function measurePair(options: OverheadOptions, clip: Clip, serverFirst: boolean): Promise<OverheadPair> {
  if (serverFirst) {
    const server = await throughServer(options, clip);
    return { clip: clip.path, engine: await throughEngine(options, clip), server };
  }
  const engine = await throughEngine(options, clip);
  return { clip: clip.path, engine, server: await throughServer(options, clip) };
}

async function throughEngine({ engine, language }: OverheadOptions, clip: Clip): Promise<ClipTimes> {
  const start = performance.now();
  const { timings } = await transcribeClip(engine, clip, language, 'bench');
  return clipTimes(performance.now() - start, { queue: timings.queueMs, speech: timings.speechMs });
}

async function throughServer({ target, language }: OverheadOptions, clip: Clip): Promise<ClipTimes> {
  const upload = readUpload(clip.path, 0, languageFor(clip, language));
  const { status, milliseconds, phases } = await target.send(upload, 0);
  if (status !== 200) throw new Error(`${target.name} answered ${clip.path} with status ${status}.`);
  return clipTimes(milliseconds, phases);
}

function clipTimes(total: number, { upload = 0, queue = 0, speech = 0 }: Readonly<Record<string, number>>): ClipTimes {
  return { total, upload, queue, speech, rest: total - upload - queue - speech };
}

export type Phase = keyof ClipTimes;
export const PHASES: readonly Phase[] = ['total', 'upload', 'queue', 'speech', 'rest'];

export interface Overhead {
  /** Medians, milliseconds. */
  engine: ClipTimes;
  server: ClipTimes;
  /** Medians of the differences pair by pair. */
  added: ClipTimes;
  /** As `added.total`, without what the model itself took, which other work on the machine disturbs most. */
  addedOutsideSpeech: number;
}

/** Throws RangeError for no pairs. */
export function summarizeOverhead(pairs: readonly OverheadPair[]): Overhead {
  const medians = (value: (pair: OverheadPair, phase: Phase) => number): ClipTimes =>
    Object.fromEntries(PHASES.map((phase) => [phase, median(pairs.map((pair) => value(pair, phase)))])) as Record<
      Phase,
      number
    >;
  const outside = ({ total, speech }: ClipTimes): number => total - speech;
  return {
    engine: medians(({ engine }, phase) => engine[phase]),
    server: medians(({ server }, phase) => server[phase]),
    added: medians(({ engine, server }, phase) => server[phase] - engine[phase]),
    addedOutsideSpeech: median(pairs.map(({ engine, server }) => outside(server) - outside(engine))),
  };
}
