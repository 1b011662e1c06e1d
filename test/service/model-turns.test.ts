import { expect } from 'chai';
import { ModelRefused } from '../../src/errors.js';
import { LaneDivision } from '../../src/engine/lane-division.js';
import type { EngineApart } from '../../src/service/engine-apart.js';
import { ModelTurns, type NextModel } from '../../src/service/model-turns.js';
import { ManualTimers } from '../support/manual-timers.js';
import { until } from '../support/until.js';

interface Gate {
  promise: Promise<void>;
  open: () => void;
  fail: (error: Error) => void;
}

function gate(): Gate {
  let open = (): void => undefined;
  let fail: (error: Error) => void = open;
  const promise = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  promise.catch(() => undefined);
  return { promise, open, fail };
}

/** An engine that is closed when asked to be, and says so. */
class FakeApart {
  closed = false;
  die: (how: string) => void = () => undefined;
  readonly died = new Promise<string>((resolve) => (this.die = resolve));
  readonly speech = {};
  readonly translator = {};
  readonly info: { modelName: string };

  constructor(modelName: string) {
    this.info = { modelName };
  }

  limitLanes(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  get asEngine(): EngineApart {
    return this as unknown as EngineApart;
  }
}

describe('ModelTurns', () => {
  let old: FakeApart;
  let next: FakeApart;
  let loaded: Gate;
  let checked: Gate;
  let chosen: number;
  let now: number;
  let turns: ModelTurns;
  let isRoom: boolean;
  let leastSpeeds: (number | undefined)[];
  let choose: () => void;

  beforeEach(() => {
    [old, next, loaded, checked] = [new FakeApart('old'), new FakeApart('new'), gate(), gate()];
    [chosen, now, isRoom, leastSpeeds] = [0, 1000, true, []];
    choose = () => void (chosen += 1);
    const found: NextModel = {
      start: async (signal) => {
        signal.addEventListener('abort', () => loaded.fail(signal.reason as Error));
        await loaded.promise;
        return next.asEngine;
      },
      check: (_, signal) => {
        signal.addEventListener('abort', () => checked.fail(signal.reason as Error));
        return checked.promise;
      },
      choose: () => choose(),
    };
    turns = new ModelTurns({
      first: old.asEngine,
      division: new LaneDivision({ lanes: () => 2, timers: new ManualTimers(), now: () => 0 }),
      find: (_, leastSpeed) => {
        leastSpeeds.push(leastSpeed);
        if (!isRoom) throw new ModelRefused('no room');
        return found;
      },
      afterRestart: (serving) => serving,
      logger: { error: () => undefined, info: () => undefined },
      now: () => now,
    });
  });

  const phase = (): string | undefined => turns.state().change?.phase;
  const settled = (): Promise<void> => until(() => turns.state().change === null);
  const checking = async (): Promise<void> => {
    turns.use('new', 'a test');
    loaded.open();
    await until(() => phase() === 'checking');
  };

  it('lets who brings a model in wait for it to serve, and no longer', async () => {
    turns.acquire();
    const served = turns.bringIn('new', 'a test', 2);
    loaded.open();
    checked.open();
    await served;
    expect(turns.state()).to.include({ serving: 'new' });
    expect(phase()).to.equal('draining');
    expect(leastSpeeds).to.deep.equal([2]);
  });

  it('reports to who brings a model in why it does not serve', async () => {
    isRoom = false;
    const reason = (): Promise<unknown> => turns.bringIn('new', 'a test', 2).catch((error: unknown) => error);
    expect(await reason())
      .to.be.instanceOf(ModelRefused)
      .with.property('message', 'no room');
    isRoom = true;
    loaded.open();
    checked.fail(new Error('too slow'));
    expect(await reason())
      .to.be.instanceOf(Error)
      .with.property('message', 'too slow');
    expect(turns.state()).to.deep.include({ serving: 'old', last: { to: 'new', error: 'too slow' } });
    await settled();
  });

  it('keeps the old engine as long as anybody has it leased, though nothing runs in it', async () => {
    const { reader, release } = turns.acquire();
    expect(reader).to.equal(old.speech);
    await checking();
    expect(turns.acquire().reader).to.equal(old.speech);
    now = 2000;
    checked.open();
    await until(() => phase() === 'draining');
    expect(turns.state()).to.include({ serving: 'new', since: 2000 });
    expect(turns.state().change?.requests).to.equal(2);
    expect(turns.acquire().reader).to.equal(next.speech);
    expect(turns.atWork).to.deep.equal([next, old]);
    release();
    release();
    expect(turns.state().change?.requests).to.equal(1);
    expect(old.closed).to.equal(false);
  });

  it('ends the old engine when it is released, and takes turns again', async () => {
    const { release } = turns.acquire();
    await checking();
    checked.open();
    await until(() => phase() === 'draining');
    expect(() => turns.use('old', 'a test')).to.throw(ModelRefused, 'has 1 requests to finish');
    release();
    await settled();
    expect(old.closed).to.equal(true);
    expect(next.closed).to.equal(false);
    expect(chosen).to.equal(1);
    expect(turns.state()).to.deep.include({ serving: 'new', last: { to: 'new', error: null } });
    turns.use('old', 'a test');
    expect(phase()).to.equal('starting');
    await turns.close();
  });

  for (const [what, spoil, reason] of [
    ['cannot start', () => loaded.fail(new Error('no such file')), 'no such file'],
    ['fails its check', () => checked.fail(new ModelRefused('detects nothing')), 'detects nothing'],
    ['dies while it is checked', () => next.die('SIGKILL'), 'died while the model was checked: SIGKILL'],
  ] as const) {
    it(`changes nothing when the new one ${what}`, async () => {
      turns.use('new', 'a test');
      if (what !== 'cannot start') {
        loaded.open();
        await until(() => phase() === 'checking');
      }
      spoil();
      await settled();
      expect(turns.state()).to.include({ serving: 'old', since: 1000 });
      expect(turns.state().last?.error).to.contain(reason);
      expect(old.closed).to.equal(false);
      expect(next.closed).to.equal(what !== 'cannot start');
      expect(chosen).to.equal(0);
    });
  }

  it('changes nothing when the choice cannot be written down', async () => {
    choose = () => {
      throw new Error('the disk is full');
    };
    await checking();
    checked.open();
    await settled();
    expect(turns.state()).to.deep.include({ serving: 'old', last: { to: 'new', error: 'the disk is full' } });
    expect(next.closed).to.equal(true);
  });

  it('begins nothing that is refused', () => {
    isRoom = false;
    expect(() => turns.use('new', 'a test')).to.throw(ModelRefused, 'no room');
    expect(() => turns.use('old', 'a test')).to.throw(ModelRefused, 'serves already');
    expect(turns.state()).to.deep.include({ serving: 'old', change: null, last: null });
  });

  for (const begun of ['starting', 'checking', 'draining'] as const) {
    it(`leaves no engine behind when it is closed while one is ${begun}`, async () => {
      const { release } = turns.acquire();
      turns.use('new', 'a test');
      if (begun !== 'starting') loaded.open();
      if (begun === 'draining') checked.open();
      await until(() => phase() === begun);
      const closing = turns.close();
      release();
      await closing;
      expect(old.closed).to.equal(true);
      expect(next.closed).to.equal(begun !== 'starting');
      expect(turns.state().serving).to.equal(begun === 'draining' ? 'new' : 'old');
      expect(() => turns.use('new', 'a test')).to.throw(ModelRefused, 'shutting down');
    });
  }
});
