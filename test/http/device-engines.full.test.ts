/** The service with an engine process for each of two devices: here the processor, twice. */
import { setMaxListeners } from 'node:events';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SpeechEngine } from '../../src/engine/types.js';
import { childrenOf, deadlyEngines, isAlive } from '../support/child-processes.js';
import { DEADLY_VARIABLE, VISIBLE_VARIABLE } from '../support/deadly-files.js';
import { startEngineProcess, type EngineProcess } from '../support/engine-process.js';
import { heldRequest, type HeldRequest } from '../support/held-request.js';
import { call, transcribe } from '../support/requests.js';
import { TestServer, type Customer } from '../support/server.js';
import { pause, pcmOfSample, sample, wavOf } from '../support/speech.js';
import { SwappedModels } from '../support/swapped-models.js';
import { leasedEngine, measureAndTranscribe } from '../support/transcribe.js';
import { until } from '../support/until.js';

const CREDITS = 1000;
const FILES = 12;
const HELD = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth'];
const clip = sample('en-wav16.wav');

describe('HTTP: an engine process for each of two devices', () => {
  const models = new SwappedModels();
  const deadly = join(models.directory, 'deadly.json');
  const long = join(models.directory, 'long.wav');
  const devices = ['cpu', 'cpu'];
  let process_: EngineProcess;
  let server: TestServer<Pick<SpeechEngine, 'info' | 'stats'>>;
  let customer: Customer;

  const pids = (): number[] => [...process_.engines.pids];
  const post = (audio: Buffer = readFileSync(clip.path)) =>
    transcribe(server, { key: customer.key.rawKey, parts: [['audio', audio]] });
  const stats = () => process_.engines.speech.stats();

  /** A request that is measured, and waits in its process until it is let go on. */
  function held(requestId: string): HeldRequest {
    const origin = { requestId, accountId: customer.account.id, background: false, sha256: null };
    return heldRequest(process_, { path: clip.path, accountId: customer.account.id, language: 'en', origin });
  }
  /** So many that the slower one has some too: which of them is where, the speeds decide that were measured. */
  async function someInEach(): Promise<HeldRequest[]> {
    const requests = HELD.map(held);
    await Promise.all(requests.map(({ arrived }) => arrived));
    return requests;
  }

  before(async () => {
    writeFileSync(deadly, '{}');
    // Longer than anybody waits for.
    const minute = Buffer.concat(Array.from({ length: 15 }, () => [pcmOfSample(), pause(0.1)]).flat());
    writeFileSync(long, wavOf(Buffer.concat(Array.from({ length: 20 }, () => minute))));
    process.env[DEADLY_VARIABLE] = deadly;
    process_ = await models.start({}, { devices });
    const { engines } = process_;
    server = await TestServer.start({ engine: engines.speech, engines });
    customer = await server.customer(CREDITS);
  });
  after(async () => {
    await server.dispose();
    Reflect.deleteProperty(process.env, DEADLY_VARIABLE);
    models.remove();
  });

  it('reports what both are, together', async () => {
    expect(pids()).to.have.length(2).and.have.members(deadlyEngines());
    const { body } = await call(server, '/readyz');
    expect(body['device']).to.deep.include({ ids: ['cpu', 'cpu'] });
    expect((body['device'] as { name: string }).name).to.not.contain(',');
    expect((await call(server, '/metrics')).text).to.match(/^verbatim_slots 4$/m);
    expect(process_.engines.info.config).to.deep.equal(process_.config);
  });

  it('has them at a lower priority than the process that answers', () => {
    const lower = Math.min(constants.priority.PRIORITY_LOW, getPriority() + 5);
    expect(pids().map((pid) => getPriority(pid))).to.deep.equal([lower, lower]);
  });

  it('counts the windows of both', async () => {
    const windows = async (): Promise<number> => {
      const found = /^verbatim_inference_seconds_count (\d+)$/m.exec(await process_.metrics.text());
      return Number(found?.[1]);
    };
    const before = await windows();
    const requests = await someInEach();
    for (const { go } of requests) go();
    for (const { answer } of requests) expect((await answer).text).to.equal(clip.text);
    await until(async () => (await windows()) === before + HELD.length);
  });

  it('is ready and answers while one of them has no process, which repeats what was in it', async () => {
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    const lease = process_.engines.acquire(null);
    const engine = await leasedEngine(lease, { accountId: customer.account.id, signal: abort.signal });
    let failed = 0;
    const running = HELD.map((requestId) => {
      const origin = { requestId, accountId: customer.account.id, background: false, sha256: null };
      const file = { path: long, accountId: customer.account.id, language: 'en', origin, signal: abort.signal };
      return measureAndTranscribe(engine, file).catch(() => (failed += 1));
    });
    await until(() => stats().busySlots === 4);
    const [first = 0, second] = pids();
    const serving: number[] = [];
    process_.atDeath = () => serving.push(stats().slots);
    process.kill(first, 'SIGKILL');
    await until(() => serving.length > 0);
    process_.atDeath = undefined;
    expect(serving).to.deep.equal([2]);
    expect((await call(server, '/readyz')).status).to.equal(200);
    expect((await post()).body['text']).to.equal(clip.text);
    const lost = process_.logs.at(-1)!['requestIds'] as string[];
    expect(HELD).to.include.members(lost);
    expect(lost.length).to.be.within(1, HELD.length - 1);
    await until(() => stats().slots === 4);
    // Both are at work again, the one with what was lost in the other.
    await until(() => stats().busySlots === 4);
    expect(failed).to.equal(0);
    abort.abort();
    await Promise.all(running);
    lease.release();
    expect(pids()).to.have.length(2).and.include(second).and.not.include(first);
  });

  it('does not wait with a clip behind another account’s files, though these are on both', async () => {
    const { account } = await server.customer(CREDITS);
    const abort = new AbortController();
    // Each of the files listens to it.
    setMaxListeners(0, abort.signal);
    const lease = process_.engines.acquire(null);
    const engine = await leasedEngine(lease, { accountId: account.id, signal: abort.signal });
    const running: Promise<unknown>[] = [];
    let ended = 0;
    let begun = 0;
    for (let file = 0; file < FILES; file++) {
      const request = { path: long, accountId: account.id, language: 'en', signal: abort.signal };
      running.push(measureAndTranscribe(engine, request, () => (begun += 1)).catch(() => (ended += 1)));
    }
    // All slots of either: whatever their speeds that were measured, the slower one has as many files as slots.
    await until(() => begun >= 4 && stats().busySlots === 4);
    for (let turn = 0; turn < 4; turn++) expect((await post()).body['text']).to.equal(clip.text);
    expect(ended).to.equal(0);
    abort.abort();
    await Promise.all(running);
    lease.release();
    await until(() => stats().busySlots === 0);
  });

  it('answers all that it is asked though both are killed in turn, each once and with the same text', async () => {
    const before = await server.balance(customer);
    const answers: ReturnType<typeof post>[] = [];
    for (const victim of [0, 1, 0]) {
      await until(() => stats().slots === 4);
      const requests = await someInEach();
      answers.push(...Array.from({ length: 4 }, () => post()));
      const deaths = process_.deaths.length;
      process.kill(pids()[victim] ?? 0, 'SIGKILL');
      await until(() => process_.deaths.length > deaths);
      for (const { go } of requests) go();
      for (const { answer } of requests) expect((await answer).text).to.equal(clip.text);
    }
    for (const { status, body, text } of await Promise.all(answers))
      expect(status === 200 && body['text'], text).to.equal(clip.text);
    expect(before - (await server.balance(customer))).to.equal(answers.length);
    expect(await server.ledger.audit()).to.deep.equal([]);
  });

  it('takes a file that kills one of them to no other', async () => {
    const before = pids();
    const poison = Buffer.concat([readFileSync(clip.path), Buffer.from('poison')]);
    const hash = createHash('sha256').update(poison).digest('hex');
    writeFileSync(deadly, JSON.stringify({ [hash]: 'SIGSEGV' }));
    const { status, error } = await post(poison);
    expect([status, error?.code]).to.deep.equal([500, 'internal_error']);
    await until(() => pids().length === 2);
    expect(
      before.filter((pid) => isAlive(pid)),
      'the other one',
    ).to.have.length(1);
    const deaths = process_.deaths.length;
    for (let turn = 0; turn < 2; turn++) {
      const again = await post(poison);
      expect([again.status, again.error?.code]).to.deep.equal([422, 'invalid_audio']);
    }
    expect(process_.deaths).to.have.length(deaths);
    expect(await server.ledger.audit()).to.deep.equal([]);
    writeFileSync(deadly, '{}');
  });

  it('changes the model of both, or of none', async () => {
    await until(() => pids().length === 2 && stats().slots === 4 && deadlyEngines().length === 2);
    const { models: turns } = process_.engines;
    const use = async (name: string): Promise<string | null | undefined> => {
      turns.use(name, 'a test');
      while (turns.state().change !== null) expect((await post()).status).to.equal(200);
      return turns.state().last?.error;
    };
    const before = pids();
    devices[1] = 'cuda:7';
    expect(await use('mine')).to.contain('"cuda:7" is not available');
    devices[1] = 'cpu';
    expect(turns.state().serving).to.equal('verbatim-small');
    expect(pids()).to.deep.equal(before).and.have.members(deadlyEngines());
    expect(await use('mine')).to.equal(null);
    expect(turns.state().serving).to.equal('mine');
    expect(pids()).to.have.length(2).and.have.members(deadlyEngines());
    expect(before.filter((pid) => isAlive(pid))).to.deep.equal([]);
    expect((await post()).body['text']).to.equal(clip.text);
  });

  it('starts on all devices or on none', async () => {
    const before = deadlyEngines();
    const visible = join(models.directory, 'visible');
    writeFileSync(visible, '');
    process.env[VISIBLE_VARIABLE] = visible;
    const children = childrenOf().length;
    const start = startEngineProcess(models.environment, { devices: ['cpu', 'cuda:7'] });
    expect(childrenOf()).to.have.length(children + 2);
    await start.then(
      () => expect.fail('started'),
      (error: unknown) => expect(String(error)).to.contain('"cuda:7" is not available'),
    );
    Reflect.deleteProperty(process.env, VISIBLE_VARIABLE);
    const own = process.env['CUDA_VISIBLE_DEVICES'] ?? '';
    // The one for the processor may have been ended before it could report.
    const reported = readFileSync(visible, 'utf8').trimEnd().split('\n');
    expect(reported.filter((devices) => devices !== own)).to.deep.equal(['7']);
    expect(deadlyEngines()).to.deep.equal(before);
  });
});
