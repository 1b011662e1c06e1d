import { expect } from 'chai';
import { MOST_BYTES, MOST_MESSAGES } from '../../../src/engine/process/heartbeat.js';
import { SupervisedProcess, type ProcessOptions } from '../../../src/engine/process/supervised-process.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { fakeChildren, type FakeChild } from './fake-child.js';

type Calls = { work: { request: string; progress: number; answer: string } };

const LIMIT_MS = 60_000;
const BEAT_MS = 2000;

/** What became of a call, so far. */
interface Outcome {
  value?: string;
  error?: unknown;
  progress: number[];
}

describe('A supervised process', () => {
  let timers: ManualTimers;
  let children: FakeChild[];
  let deaths: string[];
  let held: number;
  let supervised: SupervisedProcess<Calls>;

  function supervise(options: Partial<ProcessOptions> = {}): void {
    const fakes = fakeChildren();
    timers = new ManualTimers();
    children = fakes.children;
    deaths = [];
    held = 1000;
    supervised = new SupervisedProcess<Calls>({
      ...{ name: 'the test process', settings: { some: 'settings' }, callsAtOnce: 2, maxWaiting: 4 },
      ...{ periodMs: BEAT_MS, silentPings: 3, memoryBytes: 5000, idleMs: 30_000 },
      ...{ start: fakes.start, timers, memoryOf: () => held },
      observer: { died: (how) => deaths.push(how) },
      ...options,
    });
  }
  beforeEach(() => supervise());

  function call(request: string, signal?: AbortSignal): Outcome {
    const outcome: Outcome = { progress: [] };
    supervised
      .call('work', request, {
        ...{ signal, limitMs: LIMIT_MS },
        progress: (value) => outcome.progress.push(value),
      })
      .then(
        (value) => (outcome.value = value),
        (error: unknown) => (outcome.error = error),
      );
    return outcome;
  }
  const latest = (): FakeChild => children.at(-1)!;
  const ready = (): void => latest().say({ kind: 'ready' });
  /** Time passes, and the child answers each ping. */
  const beat = (milliseconds: number): void => {
    for (let passed = 0; passed < milliseconds; passed += BEAT_MS) {
      timers.pass(BEAT_MS);
      latest().say({ kind: 'pong' });
    }
  };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('starts a child at the first call, with its settings, and sends it the calls once it is ready', async () => {
    expect(children).to.have.length(0);
    const outcome = call('a');
    expect(latest().received).to.deep.equal([{ kind: 'start', settings: { some: 'settings' } }]);
    ready();
    expect(latest().calls).to.deep.equal(['a']);
    latest().say({ kind: 'progress', id: latest().idOf('a'), value: 0.5 });
    latest().answer('a');
    await settled();
    expect(outcome).to.deep.equal({ value: 'a!', progress: [0.5] });
    expect(children).to.have.length(1);
  });

  it('sends no more calls than it works on at once, lets some wait, and refuses the rest', async () => {
    const outcomes = ['a', 'b', 'c', 'd'].map((request) => call(request));
    const refused = call('e');
    await settled();
    expect(refused.error).to.include({ code: 'overloaded', retryAfterSeconds: 10 });
    ready();
    expect(latest().calls).to.deep.equal(['a', 'b']);
    expect(supervised.stats()).to.include({ waiting: 2, running: 2 });
    latest().answer('b');
    expect(latest().calls).to.deep.equal(['a', 'b', 'c']);
    for (const request of ['a', 'c', 'd']) latest().answer(request);
    await settled();
    expect(outcomes.map(({ value }) => value)).to.deep.equal(['a!', 'b!', 'c!', 'd!']);
  });

  it('ends a child that answers what it was not asked', async () => {
    const outcome = call('a');
    ready();
    latest().say({ kind: 'answer', id: latest().idOf('a') + 1, value: 'another answer' });
    expect(latest().killed).to.equal(true);
    latest().exit();
    timers.pass(1000);
    ready();
    latest().answer('a');
    await settled();
    expect(outcome.value).to.equal('a!');
    expect(deaths).to.deep.equal(['it answered what it was not asked (SIGKILL)']);
  });

  it('ends a child that says more than can be read beside all else', () => {
    call('a');
    ready();
    const say = (bytes: number): void =>
      latest().say({ kind: 'progress', id: latest().idOf('a'), value: 0 }, bytes);
    for (const bytes of [1, MOST_BYTES / MOST_MESSAGES + 1]) {
      const most = bytes === 1 ? MOST_MESSAGES : Math.floor(MOST_BYTES / bytes);
      for (let beats = 0; beats < 3; beats++) {
        timers.pass(BEAT_MS);
        for (let said = 0; said < most; said++) say(bytes);
      }
      expect(latest().killed).to.equal(false);
    }
    say(1);
    say(MOST_BYTES);
    expect(latest().killed).to.equal(true);
    latest().exit();
    expect(deaths).to.deep.equal(['it sent too much (SIGKILL)']);
  });

  it('rejects with what the child’s handler threw, under its code', async () => {
    const [known, odd] = [call('a'), call('b')];
    ready();
    latest().say({
      kind: 'failure',
      id: latest().idOf('a'),
      error: { code: 'invalid_audio', message: 'cut' },
    });
    latest().say({ kind: 'failure', id: latest().idOf('b'), error: { code: 'rm -rf', message: 'odd' } });
    await settled();
    expect(known.error).to.include({ code: 'invalid_audio', message: 'cut' });
    expect(odd.error).to.include({ code: 'internal_error', message: 'odd' });
  });

  it('repeats the work of a child that died, each call by itself, so that the one which kills fails alone', async () => {
    const [killer, innocent, waiting] = ['killer', 'innocent', 'waiting'].map((request) => call(request));
    ready();
    latest().exit('SIGSEGV');
    timers.pass(1000);
    expect(children).to.have.length(2);
    ready();
    expect(latest().calls).to.deep.equal(['killer']);
    latest().exit('SIGSEGV');
    await settled();
    expect(killer?.error).to.include({ code: 'internal_error' });
    expect((killer?.error as Error).message).to.equal('The test process died of this request: SIGSEGV.');
    timers.pass(2000);
    ready();
    expect(latest().calls).to.deep.equal(['innocent']);
    latest().answer('innocent');
    expect(latest().calls).to.deep.equal(['innocent', 'waiting']);
    latest().answer('waiting');
    await settled();
    expect([innocent?.value, waiting?.value]).to.deep.equal(['innocent!', 'waiting!']);
    expect(deaths).to.deep.equal(['SIGSEGV', 'SIGSEGV']);
  });

  it('loses no call when a child dies at any moment: before it is ready, idle, and with an answer on its way', async () => {
    const first = call('a');
    latest().exit('exit code 1');
    timers.pass(1000);
    ready();
    latest().answer('a');
    // Idle, and proven: the next one starts at once.
    latest().exit();
    const second = call('b');
    ready();
    latest().exit();
    timers.pass(1000);
    // What it says after its death is not heard.
    children.at(-2)?.answer('b', 'late');
    ready();
    latest().answer('b');
    await settled();
    expect([first.value, second.value]).to.deep.equal(['a!', 'b!']);
  });

  it('starts with growing pauses while children die, and gives up what waits after three that never were ready', async () => {
    const outcome = call('a');
    for (const [pauseMs, started] of [
      [1000, 2],
      [2000, 3],
    ] as const) {
      latest().exit('exit code 7');
      timers.pass(pauseMs - 1);
      expect(children).to.have.length(started - 1);
      timers.pass(1);
      expect(children).to.have.length(started);
    }
    latest().exit('exit code 7');
    await settled();
    expect((outcome.error as Error).message).to.equal('The test process does not start: exit code 7.');
    const later = call('b');
    timers.pass(4000);
    ready();
    latest().answer('b');
    await settled();
    expect(later.value).to.equal('b!');
  });

  it('tells all that waits why a child is unfit, and tries again for later calls', async () => {
    const outcome = call('a');
    latest().say({ kind: 'unfit', error: { code: 'invalid_model', message: 'no ONNX file' } });
    expect(latest().killed).to.equal(true);
    await settled();
    expect(outcome.error).to.include({ code: 'invalid_model', message: 'no ONNX file' });
    latest().exit();
    const later = call('b');
    timers.pass(1000);
    ready();
    latest().answer('b');
    await settled();
    expect(later.value).to.equal('b!');
  });

  it('ends a child that is silent, whatever it does, and not one that answers pings', async () => {
    const outcome = call('a');
    ready();
    beat(10 * BEAT_MS);
    expect(latest().killed).to.equal(false);
    timers.pass(3 * BEAT_MS);
    expect(latest().killed).to.equal(false);
    timers.pass(BEAT_MS);
    expect(latest().killed).to.equal(true);
    latest().exit();
    expect(deaths).to.deep.equal(['it did not answer 3 pings (SIGKILL)']);
    timers.pass(1000);
    ready();
    latest().answer('a');
    await settled();
    expect(outcome.value).to.equal('a!');
  });

  it('counts pings and not time, so that a stop of this process kills nobody', () => {
    call('a');
    ready();
    latest().received.length = 0;
    timers.pass(BEAT_MS);
    expect(latest().received).to.deep.equal([{ kind: 'ping' }]);
    expect(latest().killed).to.equal(false);
  });

  it('ends a child that holds too much memory', () => {
    call('a');
    ready();
    timers.pass(BEAT_MS);
    expect(latest().killed).to.equal(false);
    held = 5001;
    timers.pass(BEAT_MS);
    expect(latest().killed).to.equal(true);
  });

  it('ends a child that takes too long, fails that call, and repeats the others', async () => {
    const slow = call('slow');
    ready();
    beat(LIMIT_MS - BEAT_MS);
    const other = call('other');
    expect(latest().killed).to.equal(false);
    beat(BEAT_MS);
    expect(latest().killed).to.equal(true);
    latest().exit();
    await settled();
    expect((slow.error as Error).message).to.contain('a call took longer than 60000 ms');
    timers.pass(1000);
    ready();
    expect(latest().calls).to.deep.equal(['other']);
    latest().answer('other');
    await settled();
    expect(other.value).to.equal('other!');
  });

  describe('of whose calls one is aborted', () => {
    const hungUp = new Error('hung up');
    let abort: AbortController;
    beforeEach(() => {
      abort = new AbortController();
    });

    it('drops it while it waits', async () => {
      const [, , third] = [call('a'), call('b'), call('c', abort.signal)];
      ready();
      abort.abort(hungUp);
      await settled();
      expect(third.error).to.equal(hungUp);
      expect(supervised.stats()).to.include({ waiting: 0 });
      latest().answer('a');
      expect(latest().calls).to.deep.equal(['a', 'b']);
    });

    it('rejects at once, tells the child, and keeps its place until the child has ended it', async () => {
      const [first] = [call('a', abort.signal), call('b'), call('c')];
      ready();
      abort.abort(hungUp);
      await settled();
      expect(first.error).to.equal(hungUp);
      const id = latest().idOf('a');
      expect(latest().received.at(-1)).to.deep.equal({ kind: 'abort', id });
      expect(latest().calls).to.deep.equal(['a', 'b']);
      latest().say({ kind: 'failure', id, error: { code: 'aborted', message: '' } });
      expect(latest().calls).to.deep.equal(['a', 'b', 'c']);
    });

    it('ends a child that does not end it, and does not repeat it', async () => {
      call('a', abort.signal);
      const other = call('b');
      ready();
      abort.abort(hungUp);
      beat(10_000);
      expect(latest().killed).to.equal(true);
      latest().exit();
      timers.pass(1000);
      ready();
      expect(latest().calls).to.deep.equal(['b']);
      latest().answer('b');
      await settled();
      expect(other.value).to.equal('b!');
    });

    it('refuses it before it is begun', async () => {
      abort.abort(hungUp);
      const outcome = call('a', abort.signal);
      await settled();
      expect(outcome.error).to.equal(hungUp);
      expect(children).to.have.length(0);
    });
  });

  it('ends an idle child, and starts another for the next call', async () => {
    call('a');
    ready();
    latest().answer('a');
    beat(30_000 - BEAT_MS);
    expect(latest().killed).to.equal(false);
    beat(BEAT_MS);
    expect(latest().killed).to.equal(true);
    // Between the end and the word of it.
    const late = call('b');
    latest().exit();
    expect(deaths).to.deep.equal([]);
    expect(children).to.have.length(2);
    ready();
    latest().answer('b');
    await settled();
    expect(late.value).to.equal('b!');
  });

  it('rejects all on close, ends the child, and takes no more', async () => {
    const outcomes = ['a', 'b', 'c'].map((request) => call(request));
    ready();
    let closed = false;
    const closing = supervised.close().then(() => (closed = true));
    await settled();
    for (const { error } of outcomes) expect(error).to.include({ code: 'shutting_down' });
    expect([latest().killed, closed]).to.deep.equal([true, false]);
    latest().exit();
    await closing;
    const late = call('d');
    await settled();
    expect(late.error).to.include({ code: 'shutting_down' });
    expect(children).to.have.length(1);
    await supervised.close();
  });
});
