/** The calls of a supervisor: each is answered once, whatever becomes of the children. */
import { expect } from 'chai';
import { settled, SupervisorFixture } from './supervisor-fixture.js';

describe('A supervisor whose process is started when it is needed', () => {
  let fixture: SupervisorFixture;
  beforeEach(() => {
    fixture = new SupervisorFixture();
  });

  it('starts a child at the first call, with its settings, and sends it the calls once it is ready', async () => {
    expect(fixture.children).to.have.length(0);
    const outcome = fixture.call('a');
    expect(fixture.latest.received).to.deep.equal([{ kind: 'start', settings: { some: 'settings' } }]);
    fixture.ready();
    expect(fixture.latest.calls).to.deep.equal(['a']);
    fixture.latest.say({ kind: 'progress', id: fixture.latest.idOf('a'), value: 0.5 });
    fixture.latest.answer('a');
    await settled();
    expect(outcome).to.deep.equal({ value: 'a!', progress: [0.5] });
    expect(fixture.children).to.have.length(1);
  });

  it('lets 4,096 calls wait, and refuses the rest', async () => {
    const outcomes = Array.from({ length: 4096 }, (_, index) => fixture.call(`call ${index}`));
    const refused = fixture.call('one more');
    await settled();
    expect(refused.error).to.include({ code: 'overloaded', retryAfterSeconds: 5 });
    expect(outcomes.filter(({ error }) => error !== undefined)).to.deep.equal([]);
    expect(fixture.supervisor.pending).to.equal(4096);
  });

  it('rejects with what the child’s handler threw, under its code', async () => {
    const [known, odd] = [fixture.call('a'), fixture.call('b')];
    fixture.ready();
    fixture.latest.say({
      kind: 'failure',
      id: fixture.latest.idOf('a'),
      error: { code: 'invalid_audio', message: 'cut' },
    });
    fixture.latest.say({ kind: 'failure', id: fixture.latest.idOf('b'), error: { code: 'rm -rf', message: 'odd' } });
    await settled();
    expect(known.error).to.include({ code: 'invalid_audio', message: 'cut' });
    expect(odd.error).to.include({ code: 'internal_error', message: 'odd' });
  });

  it('repeats the calls of a child that died, so that the one which kills fails alone', async () => {
    const outcomes = ['killer', 'innocent', 'other'].map((request) => fixture.call(request));
    fixture.ready();
    fixture.latest.exit('SIGSEGV');
    expect(fixture.children).to.have.length(2);
    fixture.ready();
    expect(fixture.latest.calls).to.deep.equal(['killer', 'innocent', 'other']);
    fixture.latest.exit('SIGSEGV');
    // No other call needs a process that serves.
    fixture.timers.pass(1000);
    expect(fixture.children).to.have.length(3);
    for (const [calls, dies] of [
      [['killer', 'innocent', 'other'], true],
      [['killer', 'innocent'], true],
      [['killer'], true],
      [['innocent'], false],
      [['other'], false],
    ] as const) {
      if (!fixture.latest.isReady) fixture.ready();
      expect(fixture.latest.open).to.deep.equal(calls);
      if (dies) fixture.latest.exit('SIGSEGV');
      else for (const innocent of calls) fixture.latest.answer(innocent);
    }
    await settled();
    expect(outcomes.map(({ value }) => value)).to.deep.equal([undefined, 'innocent!', 'other!']);
    expect((outcomes[0]?.error as Error).message).to.equal('The test process died of this request: SIGSEGV.');
    expect(fixture.deaths).to.deep.equal(Array(5).fill('SIGSEGV'));
    expect(fixture.latest.killed, 'the process that isolates nothing').to.equal(true);
  });

  it('loses no call when a child dies at any moment: before it is ready, idle, and with an answer on its way', async () => {
    const first = fixture.call('a');
    fixture.latest.exit('exit code 1');
    fixture.timers.pass(1000);
    fixture.ready();
    fixture.latest.answer('a');
    // Idle, and proven: the next one starts at once.
    fixture.latest.exit();
    const second = fixture.call('b');
    fixture.ready();
    fixture.latest.exit();
    fixture.timers.pass(1000);
    // What it sends after its exit is ignored.
    fixture.children.at(-2)?.answer('b', 'late');
    fixture.ready();
    fixture.latest.answer('b');
    await settled();
    expect([first.value, second.value]).to.deep.equal(['a!', 'b!']);
  });

  it('starts with pauses while children die, and gives up what waits after three that never were ready', async () => {
    const outcome = fixture.call('a');
    for (const [pauseMs, started] of [
      [1000, 2],
      [1000, 3],
    ] as const) {
      fixture.latest.exit('exit code 7');
      fixture.timers.pass(pauseMs - 1);
      expect(fixture.children).to.have.length(started - 1);
      fixture.timers.pass(1);
      expect(fixture.children).to.have.length(started);
    }
    fixture.latest.exit('exit code 7');
    await settled();
    expect((outcome.error as Error).message).to.equal('The test process does not start. Try again later.');
    const refused = fixture.call('b');
    await settled();
    expect(refused.error).to.include({ code: 'overloaded' });
    fixture.timers.pass(1000);
    expect(fixture.children).to.have.length(3);
    const later = fixture.call('b');
    fixture.ready();
    fixture.latest.answer('b');
    await settled();
    expect(later.value).to.equal('b!');
  });

  it('fails all waiting calls with the reason why a child is unfit, and tries again for later calls', async () => {
    const outcome = fixture.call('a');
    fixture.latest.say({ kind: 'unfit', error: { code: 'invalid_model', message: 'no ONNX file' } });
    expect(fixture.latest.killed).to.equal(true);
    await settled();
    expect(outcome.error).to.include({ code: 'invalid_model', message: 'no ONNX file' });
    fixture.latest.exit();
    const later = fixture.call('b');
    fixture.timers.pass(1000);
    fixture.ready();
    fixture.latest.answer('b');
    await settled();
    expect(later.value).to.equal('b!');
    expect(fixture.deaths).to.deep.equal([]);
  });

  describe('of whose calls one is aborted', () => {
    const hungUp = new Error('hung up');
    let abort: AbortController;
    beforeEach(() => {
      abort = new AbortController();
    });

    it('drops it while it waits', async () => {
      const [, second] = [fixture.call('a'), fixture.call('b', abort.signal)];
      abort.abort(hungUp);
      await settled();
      expect(second.error).to.equal(hungUp);
      fixture.ready();
      expect(fixture.latest.calls).to.deep.equal(['a']);
    });

    it('rejects at once, and the child is asked to end it', async () => {
      const [first] = [fixture.call('a', abort.signal), fixture.call('b')];
      fixture.ready();
      abort.abort(hungUp);
      await settled();
      expect(first.error).to.equal(hungUp);
      const id = fixture.latest.idOf('a');
      expect(fixture.latest.received.at(-1)).to.deep.equal({ kind: 'abort', id });
      fixture.latest.say({ kind: 'failure', id, error: { code: 'aborted', message: '' } });
      fixture.beat(10_000);
      expect(fixture.latest.killed).to.equal(false);
    });

    it('ends a child that does not end it, and does not repeat it', async () => {
      fixture.call('a', abort.signal);
      const other = fixture.call('b');
      fixture.ready();
      abort.abort(hungUp);
      fixture.beat(10_000);
      expect(fixture.latest.killed).to.equal(true);
      fixture.latest.exit();
      fixture.timers.pass(1000);
      fixture.ready();
      expect(fixture.latest.calls).to.deep.equal(['b']);
      fixture.latest.answer('b');
      await settled();
      expect(other.value).to.equal('b!');
    });

    it('refuses it before it is begun', async () => {
      abort.abort(hungUp);
      const outcome = fixture.call('a', abort.signal);
      await settled();
      expect(outcome.error).to.equal(hungUp);
      expect(fixture.children).to.have.length(0);
    });
  });

  it('finishes its calls on close, ends the child, and takes no more', async () => {
    const outcomes = ['a', 'b'].map((request) => fixture.call(request));
    fixture.ready();
    let closed = false;
    const closing = fixture.supervisor.close().then(() => (closed = true));
    fixture.latest.answer('a');
    expect(fixture.latest.killed).to.equal(false);
    fixture.latest.answer('b');
    await settled();
    expect(outcomes.map(({ value }) => value)).to.deep.equal(['a!', 'b!']);
    expect([fixture.latest.killed, closed]).to.deep.equal([true, false]);
    fixture.latest.exit();
    await closing;
    const late = fixture.call('d');
    await settled();
    expect(late.error).to.include({ code: 'shutting_down' });
    expect(fixture.children).to.have.length(1);
    await fixture.supervisor.close();
  });
});
