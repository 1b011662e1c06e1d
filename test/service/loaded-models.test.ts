/** Models that are loaded for the requests that name them, in virtual time, with engines that load when a test lets them. */
import { expect } from 'chai';
import { setImmediate as settled } from 'node:timers/promises';
import { LaneDivision } from '../../src/engine/lane-division.js';
import { ModelRefused, type VerbatimError } from '../../src/errors.js';
import type { EngineApart } from '../../src/service/engine-apart.js';
import { LoadedModels, LONGEST_WAIT_MS, type SpeechLease } from '../../src/service/loaded-models.js';
import { ModelMemory } from '../../src/service/model-memory.js';
import { ManualTimers } from '../support/manual-timers.js';

const IDLE_MS = 600_000;
/** Of each model, in whatever unit; a load takes so much. */
const SIZE = 10;

describe('LoadedModels', () => {
  let timers: ManualTimers;
  let now: number;
  let limit: number;
  let inMemory: string[];
  let started: string[];
  let unloaded: string[];
  let gates: { name: string; open: () => void; fail: (error: Error) => void }[];
  let isGated: boolean;
  let models: LoadedModels;
  let memory: ModelMemory;

  const engineOf = (modelName: string): EngineApart => {
    inMemory.push(modelName);
    return {
      info: { modelName },
      speech: { info: { modelName } },
      bytes: SIZE,
      limitLanes: () => Promise.resolve(),
      close: () => {
        inMemory.splice(inMemory.indexOf(modelName), 1);
        return Promise.resolve();
      },
    } as unknown as EngineApart;
  };

  const start = async (name: string, signal: AbortSignal): Promise<EngineApart> => {
    started.push(name);
    if (isGated) {
      await new Promise<void>((open, fail) => {
        gates.push({ name, open, fail });
        signal.addEventListener('abort', () => fail(signal.reason as Error));
      });
    }
    return engineOf(name);
  };

  const make = (idleMs: number | null = IDLE_MS): void => {
    const division = new LaneDivision({ lanes: () => 2, timers, now: () => now });
    memory = new ModelMemory({ limit, used: () => inMemory.length * SIZE });
    models = new LoadedModels({
      ...{ memory, division, idleMs, timers, now: () => now },
      find: (name) => {
        if (name === 'unknown') throw new ModelRefused('There is no such model.');
        return { bytes: SIZE, start: (signal) => start(name, signal) };
      },
      observer: {
        modelLoaded: () => undefined,
        modelUnloaded: (name, reason) => unloaded.push(`${name}: ${reason}`),
      },
      logger: { error: () => undefined, info: () => undefined },
    });
  };

  beforeEach(() => {
    timers = new ManualTimers();
    [now, limit, isGated] = [0, 2 * SIZE, false];
    [inMemory, started, unloaded, gates] = [[], [], [], []];
    make();
  });

  const never = new AbortController().signal;
  const lease = (name: string, accountId = 'a', signal = never): Promise<SpeechLease> =>
    models.lease(name, { accountId, signal });
  const errorOf = (promise: Promise<unknown>): Promise<VerbatimError> =>
    promise.then(
      () => Promise.reject(new Error('It was not refused.')),
      (error: unknown) => error as VerbatimError,
    );
  const pass = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
    timers.pass(milliseconds);
    await settled();
  };

  it('loads a model once for all that wait for it', async () => {
    isGated = true;
    const leases = ['a', 'a', 'b'].map((account) => lease('one', account));
    await settled();
    expect(started).to.deep.equal(['one']);
    gates[0]?.open();
    for (const one of await Promise.all(leases)) expect(one.engine.info.modelName).to.equal('one');
    await lease('one');
    expect(started).to.deep.equal(['one']);
  });

  it('unloads a model that nobody has used for a while, and none with work in it', async () => {
    const { release } = await lease('one');
    await pass(10 * IDLE_MS);
    expect(inMemory).to.deep.equal(['one']);
    release();
    await pass(IDLE_MS - 1);
    (await lease('one')).release();
    await pass(IDLE_MS - 1);
    expect(inMemory).to.deep.equal(['one']);
    await pass(1);
    expect(inMemory).to.deep.equal([]);
    expect(unloaded).to.deep.equal(['one: idle']);
    await lease('one');
    expect(started).to.deep.equal(['one', 'one']);
  });

  it('never unloads an idle model where that is switched off', async () => {
    make(null);
    (await lease('one')).release();
    await pass(1000 * IDLE_MS);
    expect(inMemory).to.deep.equal(['one']);
  });

  it('unloads the least recently used of those that are idle where memory is short', async () => {
    limit = 3 * SIZE;
    make();
    const leases = [];
    for (const name of ['one', 'two', 'three']) {
      leases.push(await lease(name));
      await pass(1);
    }
    const [one, two, three] = leases;
    two?.release();
    await pass(1);
    one?.release();
    await pass(1);
    await lease('four');
    expect(inMemory).to.have.members(['one', 'three', 'four']);
    expect(unloaded).to.deep.equal(['two: memory']);
    three?.release();
  });

  it('unloads other things that are idle, by when they were used', async () => {
    let isLoaded = true;
    inMemory.push('speakers');
    memory.add({
      lastUsed: -1,
      bytes: SIZE,
      get isIdle() {
        return isLoaded;
      },
      unload: () => {
        isLoaded = false;
        inMemory.splice(inMemory.indexOf('speakers'), 1);
        return Promise.resolve();
      },
    });
    (await lease('one')).release();
    await lease('two');
    expect(inMemory).to.deep.equal(['one', 'two']);
  });

  it('waits for memory that others use, as long as a request may, and refuses then', async () => {
    const [one] = [await lease('one'), await lease('two')];
    const waiting = lease('three', 'b');
    const refused = errorOf(lease('four', 'b'));
    await settled();
    expect(started).to.deep.equal(['one', 'two']);
    one.release();
    await settled();
    expect(inMemory).to.have.members(['two', 'three']);
    const { release } = await waiting;
    await pass(LONGEST_WAIT_MS);
    const error = await refused;
    expect(error).to.include({ code: 'overloaded' });
    expect(error.message).to.contain('no memory for the model "four"');
    expect(error.retryAfterSeconds).to.be.at.least(1);
    release();
    await settled();
    expect(started).to.deep.equal(['one', 'two', 'three']);
  });

  it('refuses at once what never fits', async () => {
    limit = SIZE - 1;
    make();
    expect(await errorOf(lease('one'))).to.include({ code: 'overloaded' });
    expect(timers.pending).to.equal(0);
  });

  it('loads for accounts in turn, one model at a time', async () => {
    limit = 100 * SIZE;
    make();
    isGated = true;
    for (let n = 0; n < 5; n++) void lease(`of a ${n}`, 'a');
    await settled();
    void lease('of b', 'b');
    for (let n = 0; n < 6; n++) {
      expect(gates).to.have.length(n + 1);
      gates[n]?.open();
      await settled();
    }
    expect(started.indexOf('of b')).to.equal(1);
  });

  it('loads nothing for a request that is aborted before its turn, and keeps what is loaded for one that leaves', async () => {
    isGated = true;
    const abort = new AbortController();
    const running = errorOf(lease('one', 'a', abort.signal));
    const waiting = errorOf(lease('two', 'a', abort.signal));
    await settled();
    abort.abort(new Error('gone'));
    expect((await running).message).to.equal('gone');
    expect((await waiting).message).to.equal('gone');
    gates[0]?.open();
    await settled();
    expect(started).to.deep.equal(['one']);
    expect(inMemory).to.deep.equal(['one']);
    await pass(IDLE_MS);
    expect(inMemory).to.deep.equal([]);
  });

  it('refuses a model that cannot be loaded, and does not try it again for a while', async () => {
    isGated = true;
    const refused = [errorOf(lease('one', 'a')), errorOf(lease('one', 'b'))];
    await settled();
    gates[0]?.fail(new Error('broken file'));
    for (const error of await Promise.all(refused)) {
      expect(error).to.include({ code: 'overloaded' });
      expect(error.message).to.contain('"one" cannot be loaded');
      expect(error.message).not.to.contain('broken file');
    }
    expect(await errorOf(lease('one'))).to.include({ code: 'overloaded' });
    expect(started).to.deep.equal(['one']);
    await pass(60_001);
    isGated = false;
    await lease('one');
    expect(started).to.deep.equal(['one', 'one']);
  });

  it('gives up a model that has become the default one, once its requests have ended', async () => {
    const { release } = await lease('one');
    models.replaced('one');
    expect(models.list()).to.deep.equal([]);
    await settled();
    expect(inMemory).to.deep.equal(['one']);
    release();
    await settled();
    expect(inMemory).to.deep.equal([]);
    expect(unloaded).to.deep.equal(['one: replaced']);
  });

  it('closes once the requests that run have ended, and refuses those that wait', async () => {
    const { release } = await lease('one');
    isGated = true;
    const waiting = errorOf(lease('two'));
    await settled();
    let isClosed = false;
    const closed = models.close().then(() => (isClosed = true));
    expect(await waiting).to.include({ code: 'shutting_down' });
    await settled();
    expect(isClosed).to.equal(false);
    release();
    await closed;
    expect(inMemory).to.deep.equal([]);
    expect(await errorOf(lease('one'))).to.include({ code: 'shutting_down' });
  });
});
