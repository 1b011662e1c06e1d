/**
 * What stands for the parts of the bench that take long: answers at once, made of what it was asked, which is recorded.
 */
import type { EnginePass } from '../../../bench/engine/engine-pass.js';
import { BENCH_PARTS, type BenchParts } from '../../../bench/commands/parts.js';
import type { ClipTimes } from '../../../bench/load/overhead.js';
import { summarizeFairness } from '../../../bench/load/fairness.js';
import { verbatimTarget, whisperServerTarget } from '../../../bench/load/http-target.js';
import type { VerbatimProcess } from '../../../bench/processes/verbatim-process.js';
import type { Percentiles } from '../../../bench/reports/statistics.js';
import { StubServer } from '../stub-server.js';

/** The arguments of each call, by part. */
export type Calls = { readonly [Name in keyof BenchParts]: Parameters<BenchParts[Name]>[] };

const MIB = 2 ** 20;
/** Of an open loop, at one request a second; a higher rate takes longer. */
const P95_MS = 500;
const RECOGNISED = JSON.stringify({ language: 'de', text: 'Nichts davon.' });

export function recordingParts(): { parts: BenchParts; calls: Calls } {
  const calls: Record<string, unknown[][]> = {};
  const parts = Object.entries(STAND_INS).map(([name, part]) => {
    const words: unknown[][] = (calls[name] = []);
    const record = (...given: unknown[]): unknown => {
      words.push(given);
      return (part as (...given: unknown[]) => unknown)(...given);
    };
    return [name, record];
  });
  return { parts: Object.fromEntries(parts) as BenchParts, calls: calls as unknown as Calls };
}

const STAND_INS: BenchParts = {
  ...BENCH_PARTS,
  // The real one, but what it recognises is the same on every machine.
  createBenchEngine: (binding, setting, observer) =>
    BENCH_PARTS.createBenchEngine(binding, { ...setting, accelerator: 'off' }, observer),
  measureBilling: (requests) => {
    const times = Array.from({ length: requests }, () => 0.1);
    return Promise.resolve({ hold: times, settle: times });
  },
  measureFairness: ({ count }) => {
    const times = (ms: number): number[] => Array.from({ length: count }, () => ms);
    return Promise.resolve(summarizeFairness(times(10), times(20)));
  },
  measureInProcess: ({ cell, clips, repeat }) =>
    Promise.resolve(enginePass(cell.slots * cell.threads, clips.length * repeat)),
  measureLedgerNodes: ({ nodes, connections }) =>
    Promise.resolve({
      ofEachNode: Array.from({ length: nodes }, () => 100 * connections),
      perSecond: 100 * connections * nodes,
    }),
  measureLive: ({ tracks, other }) =>
    Promise.resolve({
      clips: other?.kind === 'clips' ? { alone: [10, 10], beside: [20] } : null,
      sessions: tracks.map(() => ({ sentAt: [100], lateMs: [0], results: [], isComplete: true })),
      usage: null,
      ownCores: 0.1,
    }),
  measureMemory: ({ slots }) =>
    Promise.resolve({
      ...{ slots, idle: (100 + 10 * slots) * MIB, after: (110 + 10 * slots) * MIB },
      inFlight: Array.from({ length: slots }, (_, windows) => (120 + 10 * windows) * MIB),
    }),
  measureNodes: ({ nodes, requests }) =>
    Promise.resolve({
      ...{ requestsPerSecond: nodes, audioPerSecond: 3 * nodes, p50: requests, p99: requests },
      shares: { shell: 1, engine: 90, database: null, balancer: 1 },
    }),
  measureOverhead: ({ clips, rounds }) =>
    Promise.resolve(
      Array.from({ length: rounds }, () =>
        clips.map(({ path }) => ({ clip: path, engine: clipTimes(10), server: clipTimes(12) })),
      ).flat(),
    ),
  openLoop: ({ rate, seconds }) => {
    const sent = Math.round(rate * seconds);
    const latency = percentilesOf(rate * P95_MS);
    return Promise.resolve({
      rate,
      sent,
      answered: sent,
      refused: 0,
      failed: 0,
      latency,
      queue: null,
      rtfx: 1,
    });
  },
  runBench: () => true,
  serverPass: () => Promise.resolve({ rtfx: 10, latency: percentilesOf(100) }),
  soak: ({ seconds, sampleSeconds }) => {
    const samples = Array.from({ length: Math.floor(seconds / sampleSeconds) }, (_, index) => ({
      ...{ seconds: (index + 1) * sampleSeconds, residentBytes: (100 + (index % 3)) * MIB },
    }));
    return Promise.resolve({ samples, outcomes: { clip: { 200: seconds } } });
  },
  startVerbatim: async () => {
    const { url, ...process } = await listening();
    const keys = ['vb_one', 'vb_two'];
    return { ...process, url, keys, target: verbatimTarget(url, keys) } as unknown as VerbatimProcess;
  },
  startWhisperServer: async () => {
    const { url, ...process } = await listening();
    return { ...process, target: whisperServerTarget(url) };
  },
  commandLinePass: () => Promise.resolve({ rtfx: 5, latency: null }),
};

async function listening(): Promise<{ url: string; pid: number; stop: () => Promise<void> }> {
  const stub = new StubServer(() => 200, RECOGNISED);
  const stop = (): Promise<void> => {
    stub.close();
    return Promise.resolve();
  };
  return { url: await stub.listen(), pid: process.pid, stop };
}

function percentilesOf(p95: number): Percentiles {
  return { p50: p95, p95, p99: p95 };
}

function clipTimes(total: number): ClipTimes {
  return { total, upload: 0, queue: 0, speech: total - 1, rest: 1 };
}

function enginePass(rtfx: number, audioSeconds: number): EnginePass {
  return {
    ...{ weightType: 'q5_1', rtfx, audioSeconds, wallSeconds: audioSeconds / rtfx },
    ...{ latency: percentilesOf(100), melMs: 1, encodeMs: 8, decodeMs: 1, windows: 1 },
    ...{ tokensPerSecond: 10, batchRows: 0, fallbacks: 0, peakMemoryBytes: 100 * MIB, busyCores: 1 },
  };
}
