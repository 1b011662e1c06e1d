import { expect } from 'chai';
import { EngineError } from '../../../src/engine/native-errors.js';
import { Supervisor } from '../../../src/engine/process/supervisor.js';
import { Quarantine } from '../../../src/engine/remote/quarantine.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { fakeChildren, type FakeChild } from './fake-child.js';

type Calls = { work: { request: string; progress: never; answer: string } };

const LIMITS = { periodMs: 600_000, silentPingsBeforeReady: 3, silentPings: 3, memoryBytes: Infinity };

/** Calls are named by their account and a number: a1, a2, v1. */
describe('The calls of an account that crashes processes', () => {
  let timers: ManualTimers;
  let children: FakeChild[];
  let purposes: string[];
  let outcomes: Map<string, string>;
  let quarantine: Quarantine;
  let supervisor: Supervisor<Calls>;

  beforeEach(async () => {
    const { children: all, start } = fakeChildren();
    children = all;
    purposes = [];
    outcomes = new Map();
    timers = new ManualTimers();
    quarantine = new Quarantine(() => 0);
    supervisor = new Supervisor<Calls>({
      ...{ name: 'the engine', limits: LIMITS, timers, start, settings: () => null },
      ...{ isStopped: () => false, accounts: quarantine },
      fatalError: (how) => new EngineError('internal_error', how),
      isolation: (purpose) => {
        purposes.push(purpose);
        return { start, settings: () => null };
      },
      observer: { convicted: (origin) => quarantine.convict(origin!) },
    });
    const started = supervisor.start();
    children[0]!.say({ kind: 'ready' });
    await started;
  });

  const [serving, isolation] = [(): FakeChild => children[0]!, (): FakeChild => children.at(-1)!];

  function call(name: string, background = false): void {
    const origin = { requestId: name, accountId: name.charAt(0), background, sha256: null };
    supervisor.call('work', { request: () => name, origin }).then(
      (answer) => outcomes.set(name, answer),
      (error: unknown) => outcomes.set(name, (error as Error).message),
    );
  }
  const convict = (accountId: string, times: number): void => {
    for (let time = 0; time < times; time++) quarantine.convict({ accountId, sha256: null });
  };
  const becomeReady = (): void => {
    for (const child of children) if (!child.isReady) child.say({ kind: 'ready' });
  };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('enter no process that serves, once it has two convictions', async () => {
    convict('a', 2);
    for (const name of ['a1', 'v1', 'a2']) call(name);
    expect(serving().open).to.deep.equal(['v1']);
    expect(purposes).to.deep.equal(['isolated']);
    isolation().say({ kind: 'ready' });
    expect(isolation().open).to.deep.equal(['a1']);
    isolation().answer('a1');
    expect(isolation().open).to.deep.equal(['a2']);
    isolation().answer('a2');
    await settled();
    expect(Object.fromEntries(outcomes)).to.deep.equal({ a1: 'a1!', a2: 'a2!' });
    expect(isolation().killed, 'nothing is left for it').to.equal(true);
  });

  it('enter it after one conviction, unless they are of a job', () => {
    convict('a', 1);
    call('a1');
    call('a2', true);
    expect(serving().open).to.deep.equal(['a1']);
    isolation().say({ kind: 'ready' });
    expect(isolation().open).to.deep.equal(['a2']);
  });

  it('wait after each crash, longer and longer, until one is answered', async () => {
    convict('a', 2);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) call(name);
    for (const pauseMs of [1000, 2000, 4000]) {
      isolation().say({ kind: 'ready' });
      isolation().exit('SIGSEGV');
      const before = children.length;
      timers.pass(pauseMs - 1);
      expect(children).to.have.length(before);
      timers.pass(1);
      expect(children).to.have.length(before + 1);
    }
    await settled();
    expect([...outcomes.keys()]).to.deep.equal(['a1', 'a2', 'a3']);
    isolation().say({ kind: 'ready' });
    isolation().answer('a4');
    isolation().exit('SIGSEGV');
    const before = children.length;
    timers.pass(1000);
    expect(children).to.have.length(before + 1);
  });

  it('do not keep an isolated call of another account waiting, and go on after it', () => {
    convict('a', 2);
    call('a1');
    isolation().say({ kind: 'ready' });
    const interrupted = isolation();
    call('v1');
    for (let crash = 0; crash < 2; crash++) {
      children.find((child) => child.open.includes('v1'))!.exit('SIGSEGV');
      becomeReady();
    }
    expect(interrupted.killed).to.equal(true);
    interrupted.exit();
    expect(purposes).to.deep.equal(['isolated', 'bisect']);
    isolation().say({ kind: 'ready' });
    expect(isolation().open).to.deep.equal(['v1']);
    isolation().answer('v1');
    expect(isolation().open).to.deep.equal(['a1']);
    isolation().answer('a1');
  });

  it('leave the process that serves when its second crash is found out, and that does not repeat what it still sends', async () => {
    convict('a', 1);
    call('a1');
    for (let crash = 0; crash < 2; crash++) {
      children.find((child) => child.open.includes('a1'))!.exit('SIGSEGV');
      timers.pass(1000);
      becomeReady();
    }
    const runs = children.find((child) => child.open.includes('a1'))!;
    const serves = children.find((child) => child !== runs && child.pid !== undefined)!;
    call('a2');
    call('v1');
    expect(serves.open).to.deep.equal(['a2', 'v1']);
    const id = serves.idOf('a2');
    runs.exit('SIGSEGV');
    await settled();
    expect(outcomes.get('a1')).to.equal('SIGSEGV');
    expect(serves.received.at(-1)).to.deep.equal({ kind: 'abort', id });
    expect(serves.open).to.deep.equal(['v1']);
    serves.say({ kind: 'answer', id, value: 'late' });
    await settled();
    expect(outcomes.has('a2')).to.equal(false);
    isolation().say({ kind: 'ready' });
    isolation().answer('a2');
    await settled();
    expect(outcomes.get('a2')).to.equal('a2!');
  });
});
