/**
 * One speech model takes another's place while the service runs: real processes, and what clients and operators notice
 * of it.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SpeechEngine } from '../../src/engine/types.js';
import { ModelRefused } from '../../src/errors.js';
import { chosenModelPath } from '../../src/service/chosen-model.js';
import { CHECK_CLIP } from '../../src/service/model-check.js';
import { deadlyEngines, isAlive } from '../support/child-processes.js';
import { DEADLY_VARIABLE } from '../support/deadly-files.js';
import { strike, type EngineProcess } from '../support/engine-process.js';
import { heldRequest, type HeldRequest } from '../support/held-request.js';
import { call, transcribe } from '../support/requests.js';
import { bearer, TestServer, type Customer } from '../support/server.js';
import { sample } from '../support/speech.js';
import { SwappedModels } from '../support/swapped-models.js';
import { until } from '../support/until.js';

const BUNDLED = 'verbatim-small';
const CREDITS = 1000;
const clip = sample('en-wav16.wav');

describe('HTTP: another model takes the place of the one that serves', () => {
  const models = new SwappedModels();
  const deadly = join(models.directory, 'deadly.json');
  let process_: EngineProcess;
  let server: TestServer<Pick<SpeechEngine, 'info' | 'stats'>>;
  let customer: Customer;

  const turns = () => process_.engines.models;
  const settled = (): Promise<void> => until(() => turns().state().change === null);
  const use = (name: string): void => turns().use(name, 'a test');
  const refusal = (name: string): string => {
    try {
      use(name);
    } catch (error) {
      expect(error).to.be.instanceOf(ModelRefused);
      return (error as Error).message;
    }
    return expect.fail('was let in');
  };
  const post = () => transcribe(server, { key: customer.key.rawKey, parts: [['audio', readFileSync(clip.path)]] });
  const expectUnchanged = async (serving: string): Promise<void> => {
    expect(turns().state()).to.include({ serving, change: null });
    expect(deadlyEngines()).to.have.length(1);
    expect((await post()).status).to.equal(200);
  };

  /** A request that waits in the engine that serves now, until it is let go on. */
  function held(): HeldRequest {
    return heldRequest(process_, { path: clip.path, accountId: customer.account.id, language: 'en' });
  }

  before(async () => {
    writeFileSync(deadly, '{}');
    process.env[DEADLY_VARIABLE] = deadly;
    process_ = await models.start();
    const { engines } = process_;
    server = await TestServer.start({ engine: engines.speech, engines });
    customer = await server.customer(CREDITS);
  });
  after(async () => {
    await server.dispose();
    Reflect.deleteProperty(process.env, DEADLY_VARIABLE);
    models.remove();
  });

  it('answers every request meanwhile, each once and with the same text, and says which model serves', async () => {
    const before = deadlyEngines();
    const since = turns().state().since;
    const answers: ReturnType<typeof post>[] = [];
    use('mine');
    expect(turns().state()).to.deep.include({
      serving: BUNDLED,
      change: { phase: 'starting', from: BUNDLED, to: 'mine', requests: 0 },
    });
    const round = async (): Promise<void> => {
      const both = [post(), post()];
      answers.push(...both);
      await Promise.all(both);
    };
    while (turns().state().change !== null) await round();
    await round();
    const ended = await Promise.all(answers);
    expect(ended).to.have.length.above(2);
    for (const { status, body, text } of ended) expect(status === 200 && body['text'], text).to.equal(clip.text);
    expect(CREDITS - (await server.balance(customer))).to.equal(ended.length);
    expect(await server.ledger.audit()).to.deep.equal([]);

    expect(turns().state()).to.deep.include({
      ...{ serving: 'mine', afterRestart: 'mine', change: null },
      last: { to: 'mine', error: null },
    });
    expect(turns().state().since).to.be.above(since);
    const after = deadlyEngines();
    expect(after).to.have.length(1).and.not.deep.equal(before);
    expect(process_.engines.pids).to.deep.equal(after);
    expect((await call(server, '/readyz')).body).to.include({ status: 'ready', model: 'mine' });
    const { text } = await call(server, '/metrics');
    expect(text.match(/^verbatim_build_info.*$/gm)).to.have.length(1);
    expect(text).to.match(/^verbatim_build_info\{.*model="mine"/m);
    const { body } = await call(server, '/v1/models', { headers: bearer(customer.key) });
    const listed = body['data'] as { loaded: boolean }[];
    expect(listed.filter(({ loaded }) => loaded)).to.have.length(1);
    expect(listed[0]).to.include({
      ...{ id: 'mine', loaded: true },
      created: Math.floor(turns().state().since / 1000),
    });
  });

  it('lets requests end where they began, and refuses another turn until they have', async () => {
    const request = held();
    await request.arrived;
    const old = process_.engines.pids[0]!;
    use(BUNDLED);
    await until(() => turns().state().change?.phase === 'draining');
    expect(turns().state()).to.deep.include({
      serving: BUNDLED,
      change: { phase: 'draining', from: 'mine', to: BUNDLED, requests: 1 },
    });
    expect(refusal('mine')).to.contain('"mine", the model before "verbatim-small", still has 1 requests to finish');
    expect((await post()).body['text']).to.equal(clip.text);
    expect(isAlive(old)).to.equal(true);
    request.go();
    expect((await request.answer).text).to.equal(clip.text);
    await settled();
    expect(isAlive(old)).to.equal(false);
    expect(deadlyEngines()).to.have.length(1);
  });

  it('repeats in a fresh process of the old model what was in it when it was killed, and drains that', async () => {
    const request = held();
    await request.arrived;
    const old = process_.engines.pids[0]!;
    use('mine');
    await until(() => turns().state().change?.phase === 'draining');
    const deaths = process_.deaths.length;
    process.kill(old, 'SIGKILL');
    await until(() => process_.deaths.length > deaths);
    request.go();
    expect((await request.answer).text).to.equal(clip.text);
    await settled();
    await expectUnchanged('mine');
  });

  it('serves on when the one that serves dies while another model starts', async () => {
    use(BUNDLED);
    const answer = post();
    await strike(process_, 'SIGKILL');
    expect((await answer).body['text']).to.equal(clip.text);
    await settled();
    await expectUnchanged(BUNDLED);
  });

  it('refuses by name what cannot serve here, and changes nothing', async () => {
    expect(refusal('nothing')).to.match(/^There is no model "nothing". The nearest names are /);
    expect(refusal('translate-verbatim-small')).to.contain('is a translation model');
    expect(refusal('missing')).to.match(/^The model "missing" is not installed/);
    expect(refusal(BUNDLED)).to.equal('"verbatim-small" serves already.');
    await expectUnchanged(BUNDLED);
  });

  it('refuses a second turn while a model is on its way', async () => {
    use('mine');
    expect(refusal('mine')).to.equal('"mine" is being put into service; try again when that is done.');
    await settled();
    use(BUNDLED);
    await settled();
    await expectUnchanged(BUNDLED);
  });

  for (const [what, name, prepare, reason] of [
    ['cannot be loaded', 'cut', () => () => undefined, /./],
    [
      'recognises nothing in a clip of speech',
      'mine',
      () => {
        models.deafen();
        return () => models.undeafen();
      },
      /^"mine" recognises nothing in a clip of speech\.$/,
    ],
    [
      'kills its process when it is tried',
      'mine',
      () => {
        const hash = createHash('sha256').update(readFileSync(CHECK_CLIP.path)).digest('hex');
        writeFileSync(deadly, JSON.stringify({ [hash]: 'SIGKILL' }));
        return () => writeFileSync(deadly, '{}');
      },
      /^The engine process died while the model was checked: SIGKILL/,
    ],
  ] as const) {
    it(`serves on with the old model when the new one ${what}`, async () => {
      const { pids } = process_.engines;
      const chosen = readFileSync(chosenModelPath(models.dataDir), 'utf8');
      const undo = prepare();
      use(name);
      const answer = await post();
      await settled();
      undo();
      const { last } = turns().state();
      expect(last).to.include({ to: name });
      expect(last?.error).to.match(reason);
      expect(answer.status).to.equal(200);
      expect(process_.engines.pids).to.deep.equal(pids);
      expect(readFileSync(chosenModelPath(models.dataDir), 'utf8')).to.equal(chosen);
      await expectUnchanged(BUNDLED);
    });
  }
});

describe('A model that was chosen', () => {
  let models: SwappedModels;
  let started: EngineProcess[];

  const start = async (...how: Parameters<SwappedModels['start']>): Promise<EngineProcess['engines']> => {
    const one = await models.start(...how);
    started.push(one);
    return one.engines;
  };
  const chooseMine = async (engines: EngineProcess['engines']): Promise<void> => {
    engines.models.use('mine', 'a test');
    await until(() => engines.models.state().change === null);
    expect(engines.models.state().last).to.deep.equal({ to: 'mine', error: null });
  };

  beforeEach(() => {
    models = new SwappedModels();
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map(({ engines }) => engines.close()));
    models.remove();
  });

  it('serves after a restart, too', async () => {
    await chooseMine(await start());
    const again = await start();
    expect(again.speech.info.modelName).to.equal('mine');
    expect(again.models.state().afterRestart).to.equal('mine');
  });

  it('gives way to the one that VERBATIM_MODEL names, and is not remembered where that is set', async () => {
    const engines = await start({ VERBATIM_MODEL: BUNDLED });
    await chooseMine(engines);
    expect(engines.models.state()).to.include({ serving: 'mine', afterRestart: BUNDLED });
    expect(existsSync(chosenModelPath(models.dataDir))).to.equal(false);
    await chooseMine(await start());
    expect((await start({ VERBATIM_MODEL: BUNDLED })).speech.info.modelName).to.equal(BUNDLED);
  });

  it('is refused where there is no room for it beside the other, with figures', async () => {
    const { models: turns } = await start({}, { room: () => 200 * 2 ** 20 });
    expect(() => turns.use('mine', 'a test')).to.throw(
      ModelRefused,
      /^"mine" needs up to 280 MiB beside the model in use, but only 200 MiB of memory are free\./,
    );
    expect(turns.state()).to.deep.include({ serving: BUNDLED, change: null, last: null });
  });

  it('is given up when the server ends while it is on its way', async () => {
    const engines = await start();
    const { models: turns } = engines;
    turns.use('mine', 'a test');
    await engines.close();
    expect(turns.state().last?.error).to.equal('The server is shutting down.');
    expect(existsSync(chosenModelPath(models.dataDir))).to.equal(false);
    expect(deadlyEngines()).to.deep.equal([]);
  });

  it('is named by its file when that is none', async () => {
    writeFileSync(chosenModelPath(models.dataDir), '{');
    await start().then(
      () => expect.fail('started'),
      (error: unknown) => expect(String(error)).to.contain(chosenModelPath(models.dataDir)),
    );
  });
});
