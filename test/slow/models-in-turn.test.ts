/**
 * Models that requests name, in real processes: three of them under a memory for two, with 8 clients, while processes
 * are killed (KILLS, 50); a clip on one model beside a long file on another; and what a cold start takes. Models have
 * random weights, each writes a text of its own.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadBinding, type RandomModelOptions } from '../../src/engine/binding.js';
import { register } from '../../src/models/import.js';
import { bytesFor } from '../../src/service/model-memory.js';
import type { SpeechEngine } from '../../src/engine/types.js';
import { percentile } from '../../bench/reports/statistics.js';
import { startEngineProcess, type EngineProcess } from '../support/engine-process.js';
import { transcribe, type Answer } from '../support/requests.js';
import { TestServer, type Customer } from '../support/server.js';
import { pcmOfSample, sample, wavOf } from '../support/speech.js';
import { until } from '../support/until.js';

const KILLS = Number(process.env['KILLS'] ?? 50);
const CLIENTS = 8;
const CREDITS = 1_000_000;
const COLD_STARTS = 7;
const MIB = 2 ** 20;

describe('Models in turn', function () {
  this.timeout(3_600_000);
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-in-turn-'));
  const clip = readFileSync(sample('en-wav16.wav').path);
  let process_: EngineProcess;
  let server: TestServer<Pick<SpeechEngine, 'info' | 'stats'>>;
  after(() => rmSync(directory, { recursive: true }));

  async function install(name: string, options: Omit<RandomModelOptions, 'weights'>): Promise<number> {
    const file = `${name}.bin`;
    await loadBinding().writeRandomModel(join(directory, file), { weights: 'q8_0', ...options });
    const entry = { kind: 'speech', file, licence: 'none', source: 'test', windows: 'full' } as const;
    register(directory, { ...entry, name, languages: 'whisper' });
    return statSync(join(directory, file)).size;
  }
  async function start(
    environment: Record<string, string>,
    options: Parameters<typeof startEngineProcess>[1] = {},
  ): Promise<void> {
    const env = { VERBATIM_MODELS_DIR: directory, VERBATIM_DATA_DIR: join(directory, 'data'), ...environment };
    process_ = await startEngineProcess(env, options);
    const { engines } = process_;
    server = await TestServer.start({ engine: engines.speech, engines });
  }
  const post = ({ key }: Customer, model: string | null, audio = clip): Promise<Answer> =>
    transcribe(server, {
      key: key.rawKey,
      parts: [['language', 'en'], ...(model === null ? [] : [['model', model] as [string, string]]), ['audio', audio]],
    });

  describe('under a memory for two of them', () => {
    const NAMES = ['one', 'two', 'three'];
    before(async () => {
      let largest = 0;
      for (const [index, name] of NAMES.entries()) {
        const size = await install(name, { shape: 'tiny', audioLayers: index + 1, textTokens: 4 + index });
        largest = Math.max(largest, size);
      }
      const held = 100 * MIB;
      // The default model and two more, of which the last is being loaded.
      await start({ VERBATIM_MODEL_MEMORY: String(2 * held + bytesFor(largest)) }, { memoryOf: () => held });
    });
    after(() => server.dispose());

    it(`answers ${CLIENTS} clients, each by the model that it asked for, charged once, through ${KILLS} kills`, async () => {
      const customers = await Promise.all(Array.from({ length: CLIENTS }, () => server.customer(CREDITS)));
      const texts = new Map<string, string>();
      for (const name of NAMES) {
        const { status, body } = await post(customers[0]!, name);
        expect(status).to.equal(200);
        texts.set(name, String(body['text']));
      }
      expect(new Set(texts.values()).size).to.equal(NAMES.length);
      const failures: string[] = [];
      const waits: number[] = [];
      let answered = NAMES.length;
      let isOver = false;
      const clients = customers.map(async (customer, number) => {
        for (let turn = number; !isOver; turn += 1) {
          const name = NAMES[turn % NAMES.length]!;
          const begun = performance.now();
          const { status, body, headers, text } = await post(customer, name);
          waits.push(performance.now() - begun);
          if (status !== 200) failures.push(text.replace(/req_[^"]*/, ''));
          else if (headers.get('x-model') !== name) failures.push(`${headers.get('x-model')} for ${name}`);
          else if (body['text'] !== texts.get(name)) failures.push(`"${String(body['text'])}" of ${name}`);
          else answered += 1;
        }
      });
      for (let kill = 0; kill < KILLS; kill += 1) {
        // A process that is killed again and again as it starts is given up, as it should be.
        const before = answered;
        await until(() => answered >= before + CLIENTS || failures.length > 0);
        const { pids } = process_.engines;
        process.kill(pids[kill % pids.length]!, 'SIGKILL');
      }
      isOver = true;
      await Promise.all(clients);
      expect([...new Set(failures)]).to.deep.equal([]);
      const balances = await Promise.all(customers.map((customer) => server.balance(customer)));
      const spent = balances.reduce((sum, balance) => sum + CREDITS - balance, 0);
      expect(spent).to.equal(answered);
      expect(await server.ledger.audit()).to.deep.equal([]);
      const metrics = await process_.metrics.text();
      const total = (name: string): number =>
        [...metrics.matchAll(new RegExp(`^verbatim_${name}{.*} (\\d+)$`, 'gm'))].reduce(
          (sum, [, n]) => sum + Number(n),
          0,
        );
      report(
        `${answered} answers, ${total('model_loads_total')} loads, ${total('model_unloads_total')} unloads, ` +
          `${process_.deaths.length} deaths; a request took ${percentile(waits, 0.5).toFixed(0)} ms, ` +
          `p95 ${percentile(waits, 0.95).toFixed(0)} ms`,
      );
      expect(total('model_loads_total')).to.be.above(NAMES.length);
    });
  });

  describe('side by side', () => {
    before(async () => {
      await install('small-one', { shape: 'tiny', textTokens: 20 });
      await install('large-one', { shape: 'base', textTokens: 96 });
      await start({});
    });
    after(() => server.dispose());

    it('a clip on one model beside a long file on another waits for two of its windows at most', async () => {
      const [clipper, other] = [await server.customer(CREDITS), await server.customer(CREDITS)];
      const long = join(directory, 'long.wav');
      writeFileSync(long, wavOf(Buffer.concat(Array.from({ length: 400 }, pcmOfSample))));
      const clips = async (count: number): Promise<number[]> => {
        const times: number[] = [];
        for (let n = 0; n < count; n++) {
          const begun = performance.now();
          expect((await post(clipper, 'small-one')).status).to.equal(200);
          times.push(performance.now() - begun);
        }
        return times;
      };
      await post(other, 'large-one');
      await clips(5);
      const windowMs = await post(other, 'large-one').then(({ headers }) => speechMs(headers));
      const alone = percentile(await clips(30), 0.95);
      const abort = new AbortController();
      const running = transcribe(server, {
        ...{ key: other.key.rawKey, signal: abort.signal },
        parts: [
          ['language', 'en'],
          ['model', 'large-one'],
          ['audio', readFileSync(long)],
        ],
      }).catch(() => null);
      await until(() => process_.engines.speech.stats().windowsInFlight > 1);
      const beside = percentile(await clips(60), 0.95);
      abort.abort();
      await running;
      report(
        `clip alone p95 ${alone.toFixed(0)} ms, beside ${beside.toFixed(0)} ms; ` +
          `a window of the other model ${windowMs.toFixed(0)} ms`,
      );
      expect(beside - alone).to.be.at.most(2 * windowMs);
    });
  });

  describe('from a cold start', () => {
    before(async () => {
      await install('base-shape', { shape: 'base', textTokens: 96 });
      await start({ VERBATIM_MODEL_IDLE_SECONDS: '1', VERBATIM_ACCEL: 'auto' });
    });
    after(() => server.dispose());

    it('reports what a load of base’s shape in q8_0 adds to a request', async () => {
      const customer = await server.customer(CREDITS);
      const timed = async (): Promise<number> => {
        const begun = performance.now();
        expect((await post(customer, 'base-shape')).status).to.equal(200);
        return performance.now() - begun;
      };
      const isLoaded = (): boolean =>
        process_.engines.installed.list().some(({ info, loaded }) => info.modelName === 'base-shape' && loaded);
      const added: number[] = [];
      for (let n = 0; n < COLD_STARTS; n++) {
        await until(() => !isLoaded());
        const cold = await timed();
        added.push(cold - (await timed()));
      }
      const [middle, worst] = [0.5, 1].map((share) => percentile(added, share).toFixed(0));
      report(`a cold start adds ${middle} ms (median of ${COLD_STARTS}; worst ${worst} ms), its process included`);
    });
  });
});

/** Of Server-Timing. */
function speechMs(headers: Headers): number {
  return Number(/speech;dur=([\d.]+)/.exec(headers.get('server-timing') ?? '')?.[1]);
}

/** Measurements go to the terminal beside the test's name. */
function report(line: string): void {
  process.stdout.write(`      ${line}\n`);
}
