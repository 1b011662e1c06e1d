import { expect } from 'chai';
import type { EngineCalls } from '../../../src/engine/remote/engine-calls.js';
import { EngineSupervisor } from '../../../src/engine/remote/engine-supervisor.js';
import type { CallControl } from '../../../src/engine/process/pending-calls.js';
import { VerbatimError } from '../../../src/errors.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { until } from '../../support/until.js';
import { fakeChildren, startsAfter, type FakeChild } from '../process/fake-child.js';

interface Asked {
  value?: unknown;
  error?: unknown;
  progress: unknown[];
  control?: CallControl;
}

const LOAD = { slots: 2, busySlots: 1, windowsInFlight: 3, queuedWindows: 4, realTimeFactor: 0.25 };
const BEAT_MS = 500;
const REQUEST = { accountId: 'one', maxSeconds: undefined, counts: true };

describe('The supervisor of the engine’s process', () => {
  let timers: ManualTimers;
  let children: FakeChild[];
  let deaths: { reason: string; requestIds: string[] }[];
  let refused: string[];
  let isStopped: boolean;
  let supervisor: EngineSupervisor;

  beforeEach(() => {
    const fakes = fakeChildren();
    ({ children } = fakes);
    timers = new ManualTimers();
    deaths = [];
    refused = [];
    isStopped = false;
    supervisor = new EngineSupervisor({
      ...{ start: fakes.start, settings: () => 'settings', timers, isStopped: () => isStopped },
      observer: {
        engineDied: ({ reason, requestIds }) => deaths.push({ reason, requestIds }),
        engineRefused: (origin) => refused.push(origin?.requestId ?? '?'),
        measured: () => undefined,
      },
    });
  });

  const latest = (): FakeChild => children.at(-1)!;
  const ready = (child = latest()): void => {
    child.say({ kind: 'report', value: { load: LOAD, measurements: [] } });
    child.say({ kind: 'ready', value: { modelName: 'fake' } });
  };
  async function start(): Promise<void> {
    const started = supervisor.start();
    ready();
    expect(await started).to.deep.equal({ modelName: 'fake' });
  }
  /** Measures a file; in the log it is the request of the same name. */
  function ask(path: string, signal?: AbortSignal): Asked {
    const asked: Asked = { progress: [] };
    const request = (): EngineCalls['measure']['request'] => ({ path, ...REQUEST });
    supervisor
      .call('measure', {
        ...{ origin: { requestId: path, accountId: 'one', background: false, sha256: null }, signal, request },
        progress: (value, control) => {
          asked.progress.push(value);
          asked.control = control;
        },
      })
      .then(
        (value) => (asked.value = value),
        (error: unknown) => (asked.error = error),
      );
    return asked;
  }
  const idIn = (child: FakeChild, path: string): number => {
    const call = child.received.find(
      (message) => message.kind === 'call' && (message.request as { path: string }).path === path,
    );
    if (call?.kind !== 'call') throw new Error(`It was not asked for ${path}.`);
    return call.id;
  };
  const pathsIn = (child: FakeChild): string[] => child.calls.map((request) => (request as { path: string }).path);
  const answer = (child: FakeChild, path: string, value = 1): void =>
    child.say({ kind: 'answer', id: idIn(child, path), value });
  const progress = (child: FakeChild, path: string): void =>
    child.say({ kind: 'progress', id: idIn(child, path), value: 'some' });
  const codeOf = ({ error }: Asked): string | undefined => (error instanceof VerbatimError ? error.code : undefined);
  /** The serving child dies, once it has said something. */
  const die = (child = latest(), how = 'SIGSEGV'): void => child.exit(how);

  it('reports at the start why there is no engine, and leaves nothing', async () => {
    const started = supervisor.start().catch((error: unknown) => (error as Error).message);
    latest().say({ kind: 'unfit', error: { code: 'invalid_model', message: 'No model.' } });
    latest().exit();
    expect(await started).to.equal('No model.');
    timers.pass(600_000);
    expect(children).to.have.length(1);
    await supervisor.close();
  });

  it('lets calls wait while no process is ready, and has no slots meanwhile', async () => {
    await start();
    expect(supervisor.load).to.deep.equal(LOAD);
    const asked = ask('a');
    progress(latest(), 'a');
    die();
    expect(supervisor.load).to.deep.include({ slots: 0, realTimeFactor: 0.25 });
    const later = ask('b');
    expect(children).to.have.length(2);
    expect(latest().calls).to.deep.equal([]);
    ready();
    expect(pathsIn(latest())).to.deep.equal(['a', 'b']);
    answer(latest(), 'b', 2);
    answer(latest(), 'a', 1);
    await until(() => asked.value === 1 && later.value === 2);
    expect(deaths).to.deep.equal([{ reason: 'SIGSEGV', requestIds: ['a'] }]);
  });

  it('asks for what is left to do each time', async () => {
    await start();
    let left = 3;
    void supervisor.call('measure', {
      ...{ origin: undefined, signal: undefined, request: () => ({ path: `left ${left}`, ...REQUEST }) },
      progress: () => (left -= 1),
    });
    progress(latest(), 'left 3');
    die();
    ready();
    expect(pathsIn(latest())).to.deep.equal(['left 2']);
  });

  it('starts again at once where one that was ready dies before it has said anything, but not twice in a row', async () => {
    await start();
    const asked = ask('a');
    die();
    expect(children).to.have.length(2);
    ready();
    answer(latest(), 'a');
    await until(() => asked.value === 1);
    for (let death = 1; death <= 2; death++) {
      die();
      ready();
    }
    expect(children).to.have.length(4);
    die();
    expect(children).to.have.length(4);
    timers.pass(1000);
    expect(children).to.have.length(5);
  });

  it('starts again a second after a death, and refuses calls after three that never were ready until one is', async () => {
    await start();
    const asked = ask('a');
    die();
    die();
    startsAfter(children, timers, 1000);
    die();
    startsAfter(children, timers, 1000);
    expect(asked.error).to.equal(undefined);
    die();
    await until(() => codeOf(asked) === 'overloaded');
    expect(asked.error).to.have.property('retryAfterSeconds').that.is.at.least(1);
    for (let death = 4; death <= 60; death++) {
      startsAfter(children, timers, 1000);
      die();
    }
    const refused = ask('b');
    await until(() => codeOf(refused) === 'overloaded');
    // Whatever killed them has gone.
    startsAfter(children, timers, 1000);
    ready();
    const then = ask('c');
    answer(latest(), 'c');
    await until(() => then.value === 1);
  });

  it('bisects the calls that were in it at two deaths in a process beside, while others are served', async () => {
    await start();
    const asked = ['a', 'b', 'c', 'd'].map((path) => ask(path));
    progress(children[0]!, 'a');
    die(children[0]);
    ready(children[1]);
    progress(children[1]!, 'a');
    die(children[1]);
    const [, , serving, isolated] = children;
    ready(serving);
    ready(isolated);
    expect(serving!.calls).to.deep.equal([]);
    expect(pathsIn(isolated!)).to.deep.equal(['a', 'b', 'c', 'd']);
    const other = ask('other');
    expect(pathsIn(serving!)).to.deep.equal(['other']);
    die(isolated);
    ready(children[4]);
    expect(pathsIn(children[4]!)).to.deep.equal(['a', 'b']);
    die(children[4]);
    ready(children[5]);
    expect(pathsIn(children[5]!)).to.deep.equal(['a']);
    die(children[5]);
    await until(() => codeOf(asked[0]!) === 'internal_error');
    expect(refused).to.deep.equal(['a']);
    ready(children[6]);
    answer(children[6]!, 'b');
    await until(() => asked[1]!.value === 1);
    answer(children[6]!, 'c');
    answer(children[6]!, 'd');
    await until(() => asked[3]!.value === 1 && asked[2]!.value === 1);
    expect(children[6]!.killed, 'a process that isolates nothing').to.equal(true);
    children[6]!.exit();
    answer(serving!, 'other');
    await until(() => other.value === 1);
    expect(children).to.have.length(7);
  });

  it('isolates nothing that came further between two deaths', async () => {
    await start();
    const asked = ask('a');
    for (let death = 1; death <= 5; death++) {
      progress(latest(), 'a');
      asked.control!.checkpoint();
      die();
      ready();
      expect(children).to.have.length(death + 1);
      expect(pathsIn(latest())).to.deep.equal(['a']);
    }
    answer(latest(), 'a');
    await until(() => asked.value === 1);
  });

  it('drops aborted calls at once, in it and while they wait', async () => {
    await start();
    const abort = new AbortController();
    const asked = ask('a', abort.signal);
    abort.abort(new Error('gone'));
    await until(() => (asked.error as Error | undefined)?.message === 'gone');
    expect(latest().received.at(-1)).to.deep.equal({ kind: 'abort', id: idIn(latest(), 'a') });
    die();
    timers.pass(1000);
    ready();
    expect(latest().calls).to.deep.equal([]);
  });

  it('ends a process that answers no pings, was stopped, whose native call hangs, or that says what it must not', async () => {
    // Something is in it, which nobody waits for any more: what dies with it is not repeated.
    const giveWork = (): void => {
      const gone = new AbortController();
      ask('work', gone.signal);
      gone.abort();
    };
    await start();
    giveWork();
    const beat = (count: number, pong?: { overdue?: string }): void => {
      for (let pings = 0; pings < count; pings++) {
        timers.pass(BEAT_MS);
        if (pong !== undefined) latest().say({ kind: 'pong', ...pong });
      }
    };
    beat(1000, {});
    expect(latest().killed).to.equal(false);
    beat(20);
    expect(latest().killed).to.equal(false);
    beat(1);
    expect(latest().killed).to.equal(true);
    latest().exit();
    timers.pass(1000);
    ready();
    giveWork();
    beat(1, { overdue: 'measure' });
    expect(latest().killed).to.equal(true);
    latest().exit();
    timers.pass(2000);
    ready();
    giveWork();
    isStopped = true;
    beat(1, {});
    expect(latest().killed).to.equal(false);
    beat(1, {});
    expect(latest().killed).to.equal(true);
    isStopped = false;
    latest().exit();
    timers.pass(4000);
    ready();
    giveWork();
    latest().say({ kind: 'answer', id: 77, value: 1 });
    expect(latest().killed).to.equal(true);
    latest().exit();
    expect(deaths.map(({ reason }) => reason)).to.deep.equal([
      ...['unresponsive', 'unresponsive', 'unresponsive', 'broken'],
    ]);
  });

  it('pings a process that is idle a tenth as often, and as before when there is work, or no answer', async () => {
    await start();
    const pingsIn = (looks: number, answers = true): number => {
      const before = latest().received.length;
      for (let look = 0; look < looks; look++) {
        const recognised = latest().received.length;
        timers.pass(BEAT_MS);
        if (answers && latest().received.length > recognised) latest().say({ kind: 'pong' });
      }
      return latest()
        .received.slice(before)
        .filter(({ kind }) => kind === 'ping').length;
    };
    expect(pingsIn(200)).to.equal(20);
    const work = ask('work');
    expect(pingsIn(20)).to.equal(20);
    latest().say({ kind: 'answer', id: idIn(latest(), 'work'), value: 3 });
    await until(() => work.value === 3);
    expect(pingsIn(20)).to.equal(2);
    // The last look before it is pinged, that ping, and the others which it does not answer.
    expect(pingsIn(9 + 20, false)).to.equal(20);
    expect(latest().killed).to.equal(false);
    timers.pass(BEAT_MS);
    expect(latest().killed).to.equal(true);
    latest().exit();
    timers.pass(1000);
    ready();
    isStopped = true;
    timers.pass(10 * BEAT_MS);
    expect(latest().killed).to.equal(false);
    timers.pass(BEAT_MS);
    expect(latest().killed).to.equal(true);
  });

  it('finishes on close what it was asked, though a process dies of it, and takes no more', async () => {
    await start();
    const asked = ask('a');
    progress(latest(), 'a');
    const closed = supervisor.close();
    die();
    ready();
    answer(latest(), 'a');
    await until(() => asked.value === 1);
    expect(latest().killed).to.equal(true);
    latest().exit();
    await closed;
    const late = ask('b');
    await until(() => codeOf(late) === 'shutting_down');
    expect(deaths).to.have.length(1);
  });
});
