/** The supervision on real processes: what kills one is what would. No verdict hangs on time: the test lets it pass. */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { forking, MOST_MESSAGE_BYTES } from '../../../src/engine/process/child.js';
import { memoryOfProcess } from '../../../src/engine/process/heartbeat.js';
import { EngineError } from '../../../src/engine/native-errors.js';
import type { ChildCallOptions } from '../../../src/engine/process/pending-calls.js';
import { Supervisor } from '../../../src/engine/process/supervisor.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { until } from '../../support/until.js';
import type { WorkerCalls } from './worker.js';

const WORKER = join(__dirname, 'worker.ts');
const BEAT_MS = 2000;
const CALL = { limitMs: 3_600_000 };
/** Deaths of a call that always kills: two of the process that serves, and one alone. */
const DEATHS = 3;

/** Of the size of core files: soft and hard, bytes or 'unlimited'. */
function coreLimits(pid: number): string[] {
  const line = /^Max core file size\s+(\S+)\s+(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'));
  return line?.slice(1) ?? [];
}

describe('A child process under supervision', function () {
  this.timeout(120_000);
  let timers: ManualTimers;
  let deaths: string[];
  let directory: string;
  let supervised: Supervisor<WorkerCalls>;

  function supervise(settings: unknown): Supervisor<WorkerCalls> {
    return new Supervisor<WorkerCalls>({
      ...{ name: 'the worker', settings: () => settings, idleMs: 3_600_000 },
      limits: { periodMs: BEAT_MS, silentPingsBeforeReady: 3, silentPings: 3, memoryBytes: 2 ** 32 },
      ...{ timers, start: forking({ main: WORKER, env: { ONLY: 'this' }, niceness: 7 }) },
      fatalError: (how) => new EngineError('internal_error', `The worker died of this request: ${how}.`),
      observer: { died: ({ how }) => deaths.push(how) },
    });
  }
  beforeEach(() => {
    timers = new ManualTimers();
    deaths = [];
    directory = mkdtempSync(join(tmpdir(), 'verbatim-process-'));
    supervised = supervise(null);
  });
  afterEach(async () => {
    await supervised.close();
    rmSync(directory, { recursive: true });
  });

  const call = <Name extends keyof WorkerCalls>(
    name: Name,
    request: WorkerCalls[Name]['request'],
    options: Partial<ChildCallOptions<WorkerCalls[Name]>> = {},
  ): Promise<WorkerCalls[Name]['answer']> => supervised.call(name, { ...CALL, ...options, request: () => request });
  const echo = (value: unknown): Promise<unknown> => call('echo', value);
  const pid = (): number => supervised.pid ?? 0;
  const isAlive = (process_: number): boolean => memoryOfProcess(process_) !== null;

  it('answers, reports its progress, and its errors with their codes', async () => {
    const reported: number[] = [];
    const samples = [0.25, -1];
    const answer = call('echo', { samples }, { progress: (value) => reported.push(value) });
    expect(await answer).to.deep.equal({ samples });
    expect(reported).to.deep.equal([0.5]);
    const failed = await call('fail', null).catch((error: unknown) => error);
    expect(failed).to.include({ code: 'invalid_audio', message: 'The audio is cut.' });
    expect(memoryOfProcess(pid())).to.be.above(10 * 2 ** 20);
  });

  it('sees nothing of this process’ environment but what it is given', async () => {
    const names = await call('environment', null);
    expect(names).to.contain('ONLY');
    expect(names).not.to.contain('PATH');
  });

  it('has a lower priority, with all of its threads', async () => {
    const wanted = Math.min(19, getPriority() + 7);
    const priorities = await call('priorities', null);
    expect(priorities).to.have.length.above(1);
    expect(new Set(priorities)).to.deep.equal(new Set([wanted]));
    expect(getPriority()).to.equal(wanted - 7);
  });

  it('keeps the lower priority that one of its threads has given itself', async () => {
    const low = supervise('low');
    try {
      const priorities = await low.call('priorities', { ...CALL, request: () => null });
      expect(priorities).to.include(19);
    } finally {
      await low.close();
    }
  });

  it('has one helper of V8’s, that does not take the processors of what computes', async () => {
    expect(await call('options', null)).to.include('--v8-pool-size=1');
  });

  it('writes no core file when it dies of SIGSEGV, though this process may write one', async () => {
    const [soft, hard] = coreLimits(process.pid);
    const allow = (limits: string): Buffer =>
      execFileSync('prlimit', ['--pid', String(process.pid), `--core=${limits}`]);
    allow(`${hard}:${hard}`);
    try {
      expect(await echo('there')).to.equal('there');
      expect(coreLimits(pid())).to.deep.equal(['0', hard]);
    } finally {
      allow(`${soft}:${hard}`);
    }
    process.kill(pid(), 'SIGSEGV');
    await until(() => deaths.length === 1);
    expect(deaths[0]).to.match(/^SIGSEGV/);
  });

  describe('that says more than it should is ended', () => {
    const failed = async (call: Promise<unknown>): Promise<void> => {
      const failure = call.catch((error: unknown) => error);
      await until(() => deaths.length === DEATHS);
      expect(await failure).to.include({ code: 'internal_error' });
      timers.pass(1000);
      expect(await echo('next')).to.equal('next');
    };

    it('when an answer is too long', async () => {
      const most = await call('answerOf', { bytes: MOST_MESSAGE_BYTES - 1000 });
      expect(most).to.have.length(MOST_MESSAGE_BYTES - 1000);
      await failed(call('answerOf', { bytes: MOST_MESSAGE_BYTES }));
      expect(deaths[0]).to.match(/^SIGKILL it sent a message of \d+ bytes; allowed: 33554432/);
    });

    it('when it talks without end, in small pieces or large ones', async () => {
      await failed(call('chatter', { bytes: 1 }));
      expect(deaths[0]).to.match(/^it sent too much/);
      deaths = [];
      await failed(call('chatter', { bytes: 2 ** 20 }));
      expect(deaths[0]).to.match(/^it sent too much/);
    });

    it('when it writes to its standard error without end', async () => {
      await failed(call('scream', null));
      expect(deaths[0]).to.match(/^SIGKILL it wrote too much to its standard error a+$/);
    });

    it('when it says what is no message', async () => {
      const header = Uint8Array.of(3, 0, 0, 0);
      for (const body of [
        [1, 2, 3],
        [0xff, 0x0f, 0x5f],
      ]) {
        deaths = [];
        await failed(call('gibberish', [...header, ...body]));
        expect(deaths[0]).to.match(/^SIGKILL it sent /);
      }
    });
  });

  for (const how of ['exit', 'abort', 'throw'] as const) {
    it(`that dies (${how}) under a call answers it in its next life, and an innocent call as well`, async () => {
      const once = join(directory, 'once');
      const [died, innocent] = [call('die', { once, how }), echo('innocent')];
      await until(() => existsSync(once) && deaths.length === 1);
      timers.pass(1000);
      expect(await Promise.all([died, innocent])).to.deep.equal(['lived', 'innocent']);
      expect(deaths[0]).to.contain(
        { exit: 'exit code 3', abort: 'SIGABRT', throw: 'thrown where nobody catches it' }[how],
      );
    });
  }

  it('that always dies of a call fails that one alone', async () => {
    const killer = call('die', { how: 'exit' }).catch((error: unknown) => error);
    const innocent = echo('innocent');
    await until(() => deaths.length === DEATHS);
    expect(await killer).to.include({ code: 'internal_error' });
    expect(await innocent).to.equal('innocent');
  });

  it('that is killed or stopped is replaced, and its work repeated', async () => {
    expect(await echo(1)).to.equal(1);
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      const before = pid();
      const abort = new AbortController();
      let begun = 0;
      const work = call('wait', null, { signal: abort.signal, progress: () => begun++ }).catch(
        (error: unknown) => error,
      );
      await until(() => begun === 1);
      process.kill(before, signal);
      if (signal === 'SIGSTOP') timers.pass(4 * BEAT_MS);
      await until(() => !isAlive(before) && pid() !== before);
      timers.pass(1000);
      await until(() => begun === 2);
      abort.abort(new Error('enough'));
      expect(await work).to.include({ message: 'enough' });
      expect(await echo(2)).to.equal(2);
    }
  });

  it('ends an aborted call, and goes on with others', async () => {
    const abort = new AbortController();
    let begun = false;
    const work = call('wait', null, { signal: abort.signal, progress: () => (begun = true) }).catch(
      (error: unknown) => error,
    );
    await until(() => begun);
    abort.abort(new Error('hung up'));
    expect(await work).to.include({ message: 'hung up' });
    expect(await echo('next')).to.equal('next');
    expect(deaths).to.deep.equal([]);
  });

  it('that is unfit says why', async () => {
    await supervised.close();
    supervised = supervise('unfit');
    const error = await echo(1).catch((failure: unknown) => failure);
    expect(error).to.include({ code: 'invalid_model', message: 'No worker can be made of this.' });
  });

  it('is gone when its supervision is closed', async () => {
    await echo(1);
    const last = pid();
    await supervised.close();
    expect(isAlive(last)).to.equal(false);
  });
});
