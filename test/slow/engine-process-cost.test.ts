/**
 * What the engine's own process costs: pairs of servers of the build (`npm run build` first), one with it and one without, asked the same in
 * turns. `npm run test:slow -- --grep 'own process costs'`, on a machine that does nothing else; COST_TURNS: turns of each server. Several pairs, since a
 * server is by 2 or 3 % faster or slower than another of the same code for as long as it lives. The clients compute on the same cores, so that
 * they too are started with one helper of V8's (.mocharc.slow.json).
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { processorMsOfAll } from '../../bench/processes/process-usage.js';
import { startVerbatim, type VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { median, pairedRatios, percentile } from '../../bench/reports/statistics.js';
import { readUpload, type Upload } from '../../bench/load/http-target.js';
import { packageRoot } from '../../src/package-root.js';
import { buildTools, makeModel } from './made-models.js';

const TURNS = Number(process.env['COST_TURNS'] ?? 16);
const CLIPS = join(packageRoot, 'test', 'fixtures', 'audio', 'clips');
const PAIRS = 3;
/** V8 compiles what turns out to be used: after 20 rounds that still takes a twentieth of the processor time, and of two processes more. */
const WARM_UP_ROUNDS = 300;
/** Of Whisper tiny's shape, with which a clip takes ten times as long. */
const PAIRS_OF_TINY = 2;
const WARM_UP_ROUNDS_OF_TINY = 4;
/** What it says of every window, whatever it hears. */
const TOKENS_OF_TINY = 24;
const ROUNDS_OF_A_TURN = 4;
const CLIENTS = 8;
const CLIENTS_AT_FULL_LOAD = 16;
const LOOKS_AT_FULL_LOAD = 7;
const ROUNDS_OF_A_LOOK = 40;
/** What the measure of the event loop's delay counts of its own. */
const LOOP_RESOLUTION_MS = 10;

interface Turn {
  /** Requests a second. */
  rate: number;
  /** Milliseconds of all processors together, of a request. */
  processorMs: number;
  /** The median, milliseconds. */
  answerMs: number;
}

interface Pair {
  withProcess: VerbatimProcess;
  without: VerbatimProcess;
}

async function startPairs(count: number, modelFile?: string): Promise<Pair[]> {
  const main = join(packageRoot, 'dist', 'src', 'main.js');
  const start = (mode: string): Promise<VerbatimProcess> =>
    startVerbatim({
      ...{ main, env: { VERBATIM_ENGINE_PROCESS: mode, VERBATIM_LOG_LEVEL: 'error' } },
      ...(modelFile === undefined ? {} : { modelFile }),
    });
  const pairs: Pair[] = [];
  for (let pair = 0; pair < count; pair++)
    pairs.push({ withProcess: await start('on'), without: await start('off') });
  return pairs;
}

function serversOf(pairs: readonly Pair[]): VerbatimProcess[] {
  return pairs.flatMap(({ withProcess, without }) => [withProcess, without]);
}

function readClips(): Upload[] {
  const files = readdirSync(CLIPS).filter((name) => name.endsWith('.flac'));
  return files.map((name) => readUpload(join(CLIPS, name), 0, name.split('-')[1] ?? 'auto'));
}

async function turn(
  server: VerbatimProcess,
  clips: readonly Upload[],
  clients: number,
  rounds: number,
): Promise<Turn> {
  const answers: number[] = [];
  const count = rounds * clips.length;
  let next = 0;
  const client = async (_: unknown, account: number): Promise<void> => {
    while (next < count) {
      const { status, milliseconds } = await server.target.send(clips[next++ % clips.length]!, account);
      expect(status).to.equal(200);
      answers.push(milliseconds);
    }
  };
  const processor = processorMsOfAll(server.pid);
  const start = performance.now();
  await Promise.all(Array.from({ length: clients }, client));
  return {
    rate: (1000 * count) / (performance.now() - start),
    processorMs: (processorMsOfAll(server.pid) - processor) / count,
    answerMs: median(answers),
  };
}

/** Each pair right after each other, every other time the other way round. */
async function inTurns(
  pairs: readonly Pair[],
  ask: (server: VerbatimProcess) => Promise<Turn>,
): Promise<{ on: Turn[]; off: Turn[] }> {
  const on: Turn[] = [];
  const off: Turn[] = [];
  for (let number = 0; number < TURNS; number++) {
    for (const { withProcess, without } of pairs) {
      if (number % 2 === 0) on.push(await ask(withProcess));
      off.push(await ask(without));
      if (number % 2 === 1) on.push(await ask(withProcess));
    }
  }
  const used = (turns: readonly Turn[]): string => median(turns.map((one) => one.processorMs)).toFixed(2);
  const more = differences(on, off, ({ processorMs }) => processorMs);
  say(
    `processor time of a request: ${used(on)} ms with it, ${used(off)} ms without; ${spread(more, 2)} ms more`,
  );
  return { on, off };
}

function throughputRatio({ on, off }: { on: Turn[]; off: Turn[] }): number {
  const ratios = pairedRatios(
    on.map(({ rate }) => rate),
    off.map(({ rate }) => rate),
  );
  say(`${CLIENTS} clients: ${spread(ratios, 3)} times the throughput without it`);
  return median(ratios);
}

describe('The engine’s own process costs', function () {
  this.timeout(1_800_000);
  const clips = readClips();

  describe('with the bundled model', () => {
    let pairs: Pair[];
    before(async () => {
      pairs = await startPairs(PAIRS);
      for (const server of serversOf(pairs)) await turn(server, clips, CLIENTS, WARM_UP_ROUNDS);
    });
    after(async () => {
      for (const server of serversOf(pairs)) await server.stop();
    });

    it('a clip at most 2 ms at the median', async () => {
      const { on, off } = await inTurns(pairs, (server) => turn(server, clips, 1, ROUNDS_OF_A_TURN));
      const more = differences(on, off, ({ answerMs }) => answerMs);
      say(
        `one client: ${median(off.map((one) => one.answerMs)).toFixed(1)} ms without it at the median; ${spread(more, 2)} ms more with it`,
      );
      expect(median(more)).to.be.at.most(2);
    });

    it('at most 8 % of the throughput, where a clip is 14 ms of work on two cores that clients share', async () => {
      const turns = await inTurns(pairs, (server) => turn(server, clips, CLIENTS, ROUNDS_OF_A_TURN));
      expect(throughputRatio(turns)).to.be.at.least(0.92);
    });

    it('the event loop of the HTTP process nothing: at full load it is late by 5 ms at most in 99 of 100 looks', async () => {
      const late: number[] = [];
      for (let look = 0; look < LOOKS_AT_FULL_LOAD; look++) {
        const { withProcess } = pairs[look % PAIRS]!;
        // What is told is of the time since it was asked last.
        await loopDelayMs(withProcess);
        await turn(withProcess, clips, CLIENTS_AT_FULL_LOAD, ROUNDS_OF_A_LOOK);
        late.push(await loopDelayMs(withProcess));
      }
      say(`${CLIENTS_AT_FULL_LOAD} clients: the event loop is late by ${spread(late, 2)} ms (p99)`);
      expect(median(late)).to.be.at.most(5);
    });
  });

  describe('with a model of the smallest published shape', () => {
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-cost-'));
    let pairs: Pair[] = [];
    before(async () => {
      buildTools('make_model');
      const model = join(directory, 'tiny.bin');
      makeModel('tiny', model, 'f16', 1, TOKENS_OF_TINY);
      pairs = await startPairs(PAIRS_OF_TINY, model);
      for (const server of serversOf(pairs)) await turn(server, clips, CLIENTS, WARM_UP_ROUNDS_OF_TINY);
    });
    after(async () => {
      for (const server of serversOf(pairs)) await server.stop();
      rmSync(directory, { recursive: true, force: true });
    });

    it('at most 2 % of the throughput', async () => {
      const turns = await inTurns(pairs, (server) => turn(server, clips, CLIENTS, 1));
      expect(throughputRatio(turns)).to.be.at.least(0.98);
    });
  });
});

async function loopDelayMs({ url }: VerbatimProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const seconds = /^nodejs_eventloop_lag_p99_seconds ([\d.e+-]+)$/m.exec(text)?.[1];
  if (seconds === undefined) throw new Error('The metrics do not tell how late the event loop is.');
  return Math.max(0, 1000 * Number(seconds) - LOOP_RESOLUTION_MS);
}

function differences(on: readonly Turn[], off: readonly Turn[], figure: (turn: Turn) => number): number[] {
  return on.map((turn, index) => figure(turn) - figure(off[index]!));
}

/** The median, and between what half of them lie. */
function spread(values: readonly number[], digits: number): string {
  const at = (share: number): string => percentile(values, share).toFixed(digits);
  return `${median(values).toFixed(digits)} (${at(0.25)} to ${at(0.75)})`;
}

function say(line: string): void {
  process.stdout.write(`      ${line}\n`);
}
