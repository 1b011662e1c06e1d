import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryParts, type ServerMemory } from '../../bench/load/memory.js';
import { summarizeOverhead, type OverheadPair, type Phase } from '../../bench/load/overhead.js';
import { rounded } from '../../bench/reports/report.js';
import { choose, type Comparison, type Trial } from '../../bench/engine/tune-search.js';
import type { SpeechEngine } from '../../src/engine/types.js';
import { VerbatimError } from '../../src/errors.js';
import { readTuned } from '../../src/service/tuned.js';
import { loadRealEngine } from '../support/real-engine.js';
import { TestServer } from '../support/server.js';
import { samplePath } from '../native/support.js';
import { bench, benchOn, report } from './bench-command.js';

const CLIP = samplePath('en-wav16.wav');
/** Of the file that short clips are compared beside. */
const LONG_SECONDS = 400;

/** More clips than the comparison sends, fewer than a search that is never refused. */
const REFUSED_CLIP = 25;

/**
 * However fast or slow the machine: files of `endless` seconds are at work until the client hangs up, and the clip of
 * number
 * `refused` is one too many.
 */
function bounded(engine: SpeechEngine, { endless, refused }: { endless: number; refused: number }): void {
  const transcribe = engine.transcribe.bind(engine);
  let clips = 0;
  engine.transcribe = async (file, onWindow) => {
    if (file.seconds >= endless && !file.signal!.aborted) await once(file.signal!, 'abort');
    if (++clips === refused) throw new VerbatimError('overloaded', 'The server is busy.', { retryAfterSeconds: 1 });
    return transcribe(file, onWindow);
  };
}

describe('verbatim bench', function () {
  this.timeout(120_000);
  let directory: string;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  it('engine: measures each cell and writes the report', async () => {
    const words = ['--clips', CLIP, '--slots', '1,2', '--threads', '1', '--rounds', '1', '--clients', '2'];
    const { tables, models } = await report('engine', ...words, '--output', directory);
    const rows = tables[0]?.rows ?? [];
    expect(rows.map((row) => row['slots'])).to.deep.equal([1, 2]);
    for (const row of rows) {
      expect(Number.parseFloat(String(row['RTFx']))).to.be.above(0);
      expect(row['peak MiB']).to.be.above(0);
      expect(row['tokens/s']).to.be.above(0);
      expect(row['weights']).to.be.a('string').that.is.not.equal('');
      const shares = String(row['mel/encoder/decoder %']).split('/').map(Number);
      expect(shares.reduce((sum, share) => sum + share, 0)).to.be.closeTo(100, 1);
    }
    expect(models[0]?.sha256).to.match(/^[0-9a-f]{64}$/);
    expect(readdirSync(directory)).to.include.members(['engine.json', 'engine.md']);
  });

  it('live: speaks over both protocols at the speed of speech, and compares the words', async () => {
    for (const protocol of ['openai', 'deepgram']) {
      const words = ['--clips', CLIP, '--language', 'en', '--protocol', protocol, '--sessions', '2', '--seconds', '3'];
      const { tables } = await report('live', ...words);
      const [lags, texts, usage] = tables.map(({ rows }) => rows[0]);
      expect(lags, protocol).to.include({ sessions: 2, refused: 0, 'cut off': 0, finals: 2, failed: 0 });
      expect(lags).to.include({ contradicted: 0 });
      expect(lags?.['final p50 ms']).to.be.above(0);
      expect(lags?.['covered p50 ms'] === null).to.equal(protocol === 'openai');
      expect(texts, protocol).to.include({ 'live beside one piece': 0 });
      expect(usage?.['engine MiB']).to.be.above(10);
    }
  });

  it('tune: writes the settings that its measurements speak for, for serve to read', async () => {
    const file = join(directory, 'verbatim.tuned.json');
    const { tables, measurements } = await report(
      'tune',
      '--clips',
      CLIP,
      '--clients',
      '2',
      '--pairs',
      '1',
      '--sweep',
      '1',
      '--file',
      file,
    );
    const tuned = readTuned(file);
    expect(tuned?.model.name).to.equal('verbatim-small');
    expect(tuned?.cores).to.equal(availableParallelism());
    const { trials, comparison } = measurements as { trials: Trial[]; comparison: Comparison };
    const [, slots, threads, batch] =
      /^(\d+) x (\d+)(?:, (\d+) in flight)?$/.exec(String(tables[0]?.rows[0]?.['defaults'])) ?? [];
    const baseline = {
      slots: Number(slots),
      threads: Number(threads),
      batch: batch === undefined ? null : Number(batch),
    };
    const chosen = choose(baseline, trials[0]!.cell, comparison);
    expect(tuned?.batch).to.equal(chosen.batch);
    for (const name of ['slots', 'threads', 'rtfx', 'defaultRtfx', 'gain'] as const)
      expect(tuned?.[name], name).to.equal(rounded(chosen[name]));
    expect(tables[0]?.rows[0]?.['chosen']).to.match(new RegExp(`^${tuned?.slots} x ${tuned?.threads}(,|$)`));
    expect(tables[1]?.rows).to.have.length.above(1);
    const [, , check, sweep] = tables.map(({ rows }) => rows);
    expect(check?.[0]?.['chosen']).to.equal(tables[0]?.rows[0]?.['chosen']);
    expect(sweep).to.have.length(tables[1]?.rows.length ?? 0);
  });

  it('http: finds a rate, and what a short clip waits behind a long file', async () => {
    const engine = await loadRealEngine({ slots: 2 });
    bounded(engine, { endless: LONG_SECONDS, refused: REFUSED_CLIP });
    const server = await TestServer.start({ engine });
    try {
      const keys = [await server.customer(1000), await server.customer(1000)].map(({ key }) => key.rawKey).join(',');
      // Of this seed, requests are due within the first second at one a second, too.
      const load = ['--seed', '3', '--seconds', '1', '--p95', '600000'];
      const words = ['--clips', CLIP, '--long-seconds', String(LONG_SECONDS), '--short-clips', '2', ...load];
      const { tables, notes } = await report('http', '--url', server.url, '--key', keys, ...words);
      const [steps, fairness] = tables.map(({ rows }) => rows);
      expect(steps).to.have.length.above(1);
      for (const step of steps ?? []) {
        const outcomes = ['answered', 'refused', 'failed'].map((column) => Number(step[column]));
        expect(outcomes.reduce((sum, count) => sum + count, 0)).to.equal(step['sent']);
        expect(step['failed']).to.equal(0);
      }
      const refused = (steps ?? []).filter((step) => step['refused'] === 1);
      expect(refused, 'the search ends where it is refused').to.have.length(1);
      const [highest] = notes.flatMap((note) => /refused: ([\d.]+) requests/.exec(note)?.[1] ?? []);
      expect(Number(highest)).to.be.within(1, Number(refused[0]?.['requests/s']));
      expect(fairness?.[0]?.['clips']).to.equal(2);
      expect(fairness?.[0]?.['ratio of p95']).to.be.above(0);
    } finally {
      await server.dispose();
    }
  });

  it('translate: reports tokens per second of each cell', async () => {
    const words = ['--batch', '1,2', '--beam', '1', '--rounds', '1', '--length', '5'];
    const { tables } = await report('translate', ...words);
    const rows = tables[0]?.rows ?? [];
    expect(rows.map((row) => row['batch'])).to.deep.equal([1, 2]);
    for (const row of rows) expect(Number.parseFloat(String(row['tokens/s']))).to.be.above(0);
    expect((await bench('translate', '--weights', 'float7')).stderr).to.contain('"float7"');
  });

  it('overhead: sets the server beside the engine, phase by phase, and the ledger apart', async () => {
    const { tables, models, measurements } = await report(
      'overhead',
      '--clips',
      CLIP,
      '--rounds',
      '2',
      '--threads',
      '1',
    );
    const [phases = [], billing = []] = tables.map(({ rows }) => rows);
    expect(phases.map((row) => row['phase'])).to.deep.equal(['total', 'upload', 'queue', 'speech', 'rest']);
    const { pairs } = measurements as { pairs: OverheadPair[] };
    expect(pairs).to.have.length(2);
    for (const { engine, server } of pairs) {
      expect(engine.upload).to.equal(0);
      for (const { total, speech } of [engine, server]) expect(speech).to.be.above(0).and.below(total);
    }
    const overhead = summarizeOverhead(pairs);
    for (const row of phases) {
      const phase = row['phase'] as Phase;
      for (const side of ['engine', 'server', 'added'] as const)
        expect(row[`${side} p50 ms`], `${side} ${phase}`).to.equal(rounded(overhead[side][phase]));
    }
    expect(billing.map((row) => row['step'])).to.deep.equal(['hold', 'settle']);
    expect(models[0]?.sha256).to.match(/^[0-9a-f]{64}$/);
  });

  it('memory: reports what servers of different size need', async () => {
    const words = ['--slots', '1,2', '--repeat', '1', '--minutes', '0', '--clips', CLIP];
    const { tables, charts, measurements } = await report('memory', ...words);
    const [parts = [], servers = []] = tables.map(({ rows }) => rows);
    const measured = (measurements as { servers: ServerMemory[] }).servers;
    expect(measured.map(({ inFlight }) => inFlight.length)).to.deep.equal([1, 2]);
    const { base, perSlot, firstRequest, perWindow } = memoryParts(measured);
    expect(parts.map((row) => row['MiB'])).to.deep.equal(
      [base, perSlot, firstRequest, perWindow].map((bytes) => rounded(bytes / 2 ** 20)),
    );
    expect(servers.map((row) => row['slots'])).to.deep.equal([1, 2]);
    expect(String(servers[1]?.['highest MiB with 1, 2, ... windows in flight']).split(', ')).to.have.length(2);
    expect(charts.map(({ name }) => name)).to.deep.equal(['windows']);
  });

  it('throughput: says what is not built before it begins', async () => {
    const { status, stderr } = await bench('throughput', directory, '--quick', '--build', directory);
    expect(status).to.equal(1);
    expect(stderr).to.contain(`cmake --build ${directory} --target join_clips`);
    expect(readdirSync(directory)).to.deep.equal([]);
  });

  it('compare: says how to build the peers where they are missing', async () => {
    const { status, stderr } = await bench('compare', '--build', directory);
    expect(status).to.equal(1);
    expect(stderr).to.contain(`cmake --build ${directory} --target whisper-server`);
    const unknown = await bench('compare', '--peers', 'whisper-server,wisper');
    expect(unknown).to.include({ status: 2 });
    expect(unknown.stderr).to.contain('Allowed: whisper-server, whisper-cli');
  });

  it('says what is wrong with what it was asked', async () => {
    const clips = await bench('engine', '--clips', join(directory, 'nothing'));
    expect(clips).to.include({ status: 1 });
    expect(clips.stderr).to.contain('There is no audio at');
    const slots = await bench('engine', '--slots', '1,x');
    expect(slots).to.include({ status: 2 });
    expect(slots.stderr).to.contain('an integer from 1');
    // Two devices that serve would take together, not a device and a number.
    for (const name of ['engine', 'tune']) {
      const devices = await benchOn('cuda:98,99', name);
      expect(devices).to.include({ status: 1 });
      expect(devices.stderr).to.contain('Device "cuda:98,99" is not available (cuda:98, cuda:99)');
    }
  });
});
