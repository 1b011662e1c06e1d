/** One measurement of the engine: load the model, warm up, transcribe the clips with so many clients, and report. */
import type { NativeBinding } from '../../src/engine/binding.js';
import type { EngineObserver } from '../../src/engine/types.js';
import { createBenchEngine, transcribeClip, type EngineSetting } from './bench-engine.js';
import type { Clip } from '../load/clips.js';
import { closedLoop, repeated, type Timed } from '../load/closed-loop.js';
import { peakMemoryBytes, watchProcessor } from '../processes/process-usage.js';
import { percentiles, sum, type Percentiles } from '../reports/statistics.js';

export interface EngineJob extends EngineSetting {
  clips: Clip[];
  /** Requests in flight. */
  clients: number;
  /** Times the clips are transcribed. */
  repeat: number;
  /** 'auto', 'given' (by the list of the clips) or a code. */
  language: string;
}

export interface EnginePass {
  weightType: string;
  /** Seconds of audio a second. */
  rtfx: number;
  audioSeconds: number;
  wallSeconds: number;
  /** Rows a step of the batched decoder; 0 without it. */
  batchRows: number;
  /** Of a clip, from its opening to its text, milliseconds. */
  latency: Percentiles;
  /** Summed over windows, milliseconds. */
  melMs: number;
  encodeMs: number;
  decodeMs: number;
  windows: number;
  tokensPerSecond: number;
  fallbacks: number;
  peakMemoryBytes: number;
  /** Cores kept busy. */
  busyCores: number;
}

type Window = Parameters<EngineObserver['windowDone']>[0];

export async function runEnginePass(binding: NativeBinding, job: EngineJob): Promise<EnginePass> {
  const { cell, clips, clients } = job;
  const windows: Window[] = [];
  const batch = { rows: 0, steps: 0 };
  let weightType = '';
  const loading: NativeBinding = {
    ...binding,
    loadSpeechModel: async (path, options) => {
      const model = await binding.loadSpeechModel(path, options);
      weightType = model.info.weightType;
      return model;
    },
    loadRecogniser: async (path, options) => {
      const model = await binding.loadRecogniser(path, options);
      weightType = model.info.weightType;
      return model;
    },
  };
  const engine = await createBenchEngine(loading, job, {
    windowDone: (window) => windows.push(window),
    batchAdvanced: ({ rows, steps }) => {
      batch.rows += rows;
      batch.steps += steps;
    },
  });
  try {
    const transcribe = (clip: Clip, client: number): Promise<number> =>
      // Every client is an account of its own, as on a server.
      transcribeClip(engine, clip, job.language, `client-${client}`).then(({ durationSeconds }) => durationSeconds);
    // Every slot grows its buffers to what the clips need before anything is timed.
    await closedLoop(clips, Math.max(clients, cell.slots * cell.devices.length), transcribe);
    windows.length = 0;
    batch.rows = batch.steps = 0;
    const busyCores = watchProcessor();
    const start = performance.now();
    const timed = await closedLoop(repeated(clips, job.repeat), clients, transcribe);
    const wallSeconds = (performance.now() - start) / 1000;
    const batchRows = batch.steps === 0 ? 0 : batch.rows / batch.steps;
    return { weightType, batchRows, ...summary(timed, windows, wallSeconds), busyCores: busyCores() };
  } finally {
    await engine.close();
  }
}

function summary(
  timed: readonly Timed<number>[],
  windows: readonly Window[],
  wallSeconds: number,
): Omit<EnginePass, 'busyCores' | 'weightType' | 'batchRows'> {
  const audioSeconds = sum(timed.map(({ value }) => value));
  const total = (field: keyof Window): number => sum(windows.map((window) => window[field]));
  return {
    rtfx: audioSeconds / wallSeconds,
    audioSeconds,
    wallSeconds,
    latency: percentiles(timed.map(({ milliseconds }) => milliseconds)),
    melMs: total('melMs'),
    encodeMs: total('encodeMs'),
    decodeMs: total('decodeMs'),
    windows: windows.length,
    tokensPerSecond: total('tokens') / wallSeconds,
    fallbacks: total('fallbacks'),
    peakMemoryBytes: peakMemoryBytes(),
  };
}
