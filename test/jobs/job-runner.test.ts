/** The runner on a real ledger: what it does with work that breaks off. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { JobAudio, newJobId } from '../../src/jobs/job-audio.js';
import { JobRunner } from '../../src/jobs/job-runner.js';
import type { JobLedger, StoredJob } from '../../src/ledger/jobs.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { EngineBreakingError, VerbatimError } from '../../src/errors.js';
import type { Bill } from '../../src/transcription/billing.js';
import { customer, useLedger, type Bench, type KeyHolder } from '../ledger/support.js';
import { ManualTimers } from '../support/manual-timers.js';
import { overriding } from '../support/overriding.js';
import { until } from '../support/until.js';

const BILL: Bill = {
  ...{ credits: 1, audioSeconds: 3, minutes: 1 },
  uncharged: {
    ...{ id: 'tr_1', durationSeconds: 3, language: 'en', text: 'Hello.' },
    ...{ segments: null, words: null, described: null, translation: null, warnings: [], model: 'base' },
  },
  timings: { queueMs: 0, readMs: 0, speechMs: 0, inferenceMs: 0, translateMs: 0 },
};

describe('JobRunner', () => {
  let bench: Bench;
  let directory: string;
  let ledger: Ledger;
  let ann: KeyHolder;
  let audio: JobAudio;
  let timers: ManualTimers;
  let ended: number;
  const errors: unknown[] = [];
  const runners: JobRunner[] = [];
  useLedger(10, (fixture) => {
    ({ bench, ledger, ann } = fixture);
    directory = mkdtempSync(join(tmpdir(), 'verbatim-jobs-'));
    audio = new JobAudio(join(directory, 'jobs'));
    timers = new ManualTimers();
    ended = 0;
    errors.length = 0;
  });
  afterEach(async () => {
    await Promise.all(runners.splice(0).map((runner) => runner.close()));
    rmSync(directory, { recursive: true, force: true });
  });

  const NOTHING_KEPT = { keepNow: null, keepsAudio: false };
  type Perform = (signal: AbortSignal, onProgress: (seconds: number) => void) => Promise<Bill>;
  function run(perform: Perform, jobs: Partial<JobLedger> = {}): JobRunner {
    const runner = new JobRunner({
      ledger: overriding(ledger, { jobs: overriding(ledger.jobs, jobs) }),
      transcription: {
        perform: async ({ signal }, { onProgress }) => ({ ...(await perform(signal, onProgress)), ...NOTHING_KEPT }),
      },
      ...{ audio, timers, retentionMs: 1e12, now: () => bench.now },
      endpoint: '/api/v1/jobs',
      onEnd: () => ended++,
      onError: (error) => errors.push(error),
    });
    runners.push(runner);
    return runner;
  }
  async function queued(who = ann): Promise<string> {
    const id = newJobId();
    const upload = join(directory, 'upload');
    writeFileSync(upload, 'audio');
    await audio.keep(upload, id);
    await ledger.jobs.create({
      ...{ id, accountId: who.account.id, keyId: who.key.id, requestId: 'req', options: {} },
      ...{ audioSeconds: 3, credits: 1, webhook: null, mostOpen: 100, idempotency: null },
    });
    return id;
  }
  const find = async (id: string): Promise<StoredJob> => (await ledger.jobs.find(ann.account.id, id))!;
  const status = async (id: string, expected: string): Promise<void> =>
    until(async () => (await find(id)).status === expected, `${id} is ${expected}`);
  const balance = async (): Promise<number> => (await ledger.credits.balance(ann.account.id)).balance;
  const whenAborted: Perform = (signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
    });
  const pass = (milliseconds: number): void => {
    bench.now += milliseconds;
    timers.pass(milliseconds);
  };

  it('finishes jobs, removes their audio, and says that they have ended', async () => {
    const id = await queued();
    run(() => Promise.resolve(BILL));
    await status(id, 'succeeded');
    await until(() => ended === 1);
    expect(existsSync(audio.path(id))).to.equal(false);
    expect(await balance()).to.equal(9);
  });

  it('keeps finished work until the ledger takes it', async () => {
    const id = await queued();
    let full = 2;
    let performed = 0;
    const succeed: JobLedger['succeed'] = (lease, settlement) =>
      full-- > 0
        ? Promise.reject(Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }))
        : ledger.jobs.succeed(lease, settlement);
    run(() => Promise.resolve({ ...BILL, credits: ++performed }), { succeed });
    await until(() => errors.length === 1);
    expect((await find(id)).status).to.equal('running');
    pass(1000);
    await until(() => errors.length === 2);
    pass(2000);
    await status(id, 'succeeded');
    expect(performed).to.equal(1);
  });

  it('puts back what had no room just then, for as long as that will take, and never gives it up', async () => {
    const id = await queued();
    let tries = 0;
    run(() => {
      if (++tries === 30) return Promise.resolve(BILL);
      return Promise.reject(new VerbatimError('overloaded', 'Full.', { retryAfterSeconds: 7 }));
    });
    for (let n = 1; n < 30; n++) {
      await until(() => tries === n);
      await status(id, 'queued');
      pass(6000);
      expect(tries).to.equal(n);
      pass(1000);
    }
    await status(id, 'succeeded');
  });

  it('tries work that fails for an error of the service a few times, and then fails the job', async () => {
    const id = await queued();
    let tries = 0;
    run(() => {
      tries++;
      return Promise.reject(new Error('a bug'));
    });
    await until(async () => {
      const { status } = await find(id);
      // Not while it is worked on, which may take long, and under a lease.
      if (status === 'queued') pass(1000);
      return status === 'failed';
    });
    expect(tries).to.equal(4);
    expect((await find(id)).error).to.deep.equal({
      ...{
        code: 'internal_error',
        message: 'Something went wrong on the server. If it happens again, report the request id to its operator.',
        param: null,
      },
    });
    expect(await balance()).to.equal(10);
    await until(() => ended === 1);
  });

  for (const [deaths, end] of [
    [19, 'succeeded'],
    [20, 'failed'],
  ] as const)
    it(`a job at which servers died ${deaths} times has ${end}`, async () => {
      const id = await queued();
      for (let death = 0; death < deaths; death++) {
        const taken = await ledger.jobs.take({ leaseMs: 30_000, mostPerAccount: 8 });
        expect(taken?.job.id).to.equal(id);
        expect(taken?.interruptions).to.equal(death);
        bench.now += 30_000;
      }
      let performed = 0;
      run(() => {
        performed += 1;
        return Promise.resolve(BILL);
      });
      await status(id, end);
      expect(performed).to.equal(deaths < 20 ? 1 : 0);
      expect((await find(id)).error?.code).to.equal(deaths < 20 ? undefined : 'internal_error');
      expect(await balance()).to.equal(deaths < 20 ? 9 : 10);
    });

  it('runs eight jobs of an account at once, and 64 of all', async () => {
    const others = await Promise.all(
      Array.from({ length: 8 }, (_, index) => customer(ledger, `other${index}@example.com`, 10)),
    );
    const finish: (() => void)[] = [];
    const runner = run(
      (signal) =>
        new Promise((resolve, reject) => {
          finish.push(() => resolve(BILL));
          signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        }),
    );
    for (let n = 0; n < 9; n++) await queued();
    pass(1000);
    await until(() => runner.size === 8);
    await looksAgain();
    expect(runner.size).to.equal(8);
    for (const other of others) for (let n = 0; n < 8; n++) await queued(other);
    pass(1000);
    await until(() => runner.size === 64);
    await looksAgain();
    expect(runner.size).to.equal(64);
    expect(finish).to.have.length(64);
    finish[0]!();
    await until(() => finish.length === 65);
    expect(runner.size).to.equal(64);

    /** A job that one took too many would be there after so many of the runner's looks. */
    async function looksAgain(): Promise<void> {
      for (let look = 0; look < 20; look++) {
        pass(100);
        await setImmediate();
      }
      runner.wake();
      await setImmediate();
    }
  });

  it('fails a job at once that breaks the engine: another try would break it again', async () => {
    const id = await queued();
    let tries = 0;
    run(() => {
      tries++;
      return Promise.reject(new EngineBreakingError());
    });
    await status(id, 'failed');
    expect((await find(id)).error).to.include({ code: 'internal_error' });
    expect(tries).to.equal(1);
    expect(errors).to.have.length(1);
    expect(await balance()).to.equal(10);
  });

  it('fails a job at once for a fault of its own, or when its audio is gone', async () => {
    const faulty = await queued();
    run(() => Promise.reject(new VerbatimError('unsupported_language', 'No.', { param: 'language' })));
    await status(faulty, 'failed');
    const gone = await queued();
    await audio.remove(gone);
    runners[0]!.wake();
    await runners.splice(0)[0]!.close();
    run(() => Promise.reject(new Error('no such file')));
    await status(gone, 'failed');
    expect(await balance()).to.equal(10);
  });

  it('gives a job back when it closes, with its credits held, for another to begin', async () => {
    const id = await queued();
    const first = run(whenAborted);
    await status(id, 'running');
    await first.close();
    expect(await find(id)).to.include({ status: 'queued', startedAt: null });
    expect(await balance()).to.equal(9);
    expect(existsSync(audio.path(id))).to.equal(true);
    run(() => Promise.resolve(BILL));
    await status(id, 'succeeded');
  });

  it('breaks off what was cancelled elsewhere, at its next look', async () => {
    const id = await queued();
    let broken = false;
    run((signal, onProgress) =>
      whenAborted(signal, onProgress).catch((error: unknown) => {
        broken = true;
        throw error;
      }),
    );
    await status(id, 'running');
    await ledger.jobs.end(ann.account.id, id, 'cancel');
    timers.pass(7500);
    await until(() => broken);
    expect(await balance()).to.equal(10);
  });

  it('keeps its lease as long as it works, and reports how far it is', async () => {
    const id = await queued();
    const runner = run((signal, onProgress) => {
      onProgress(1.5);
      return whenAborted(signal, onProgress);
    });
    await status(id, 'running');
    await until(() => runner.doneSeconds(id) === 1.5);
    for (let n = 0; n < 20; n++) {
      pass(7500);
      await until(async () => (await find(id)).doneSeconds === 1.5);
      expect(await ledger.jobs.take({ leaseMs: 1000, mostPerAccount: 100 })).to.equal(null);
    }
    expect(runner.doneSeconds('job_other')).to.equal(null);
  });

  it('fails a job whose key is revoked, before it begins and while it runs', async () => {
    const id = await queued();
    run(whenAborted);
    await status(id, 'running');
    const waiting = await queued();
    // By another process, which notifies nobody: this one polls.
    await (await bench.cli()).keys.revoke(ann.account.id, ann.key.id);
    timers.pass(1000);
    for (const one of [id, waiting]) {
      await status(one, 'failed');
      expect((await find(one)).error?.code).to.equal('invalid_api_key');
    }
    expect(await balance()).to.equal(10);
  });

  it('breaks off a job on the notification that its key is revoked, without polling', async () => {
    const id = await queued();
    run(whenAborted);
    await status(id, 'running');
    await ledger.keys.revoke(ann.account.id, ann.key.id);
    await status(id, 'failed');
    expect((await find(id)).error?.code).to.equal('invalid_api_key');
  });

  it('removes audio that no job needs: of those that have ended, and what is old', async () => {
    const kept = await queued();
    const cancelled = await queued();
    await ledger.jobs.end(ann.account.id, cancelled, 'cancel');
    const orphan = newJobId();
    writeFileSync(audio.path(orphan), 'audio');
    bench.now = Date.now();
    run(whenAborted);
    await until(() => !existsSync(audio.path(cancelled)));
    expect([kept, orphan].map((id) => existsSync(audio.path(id)))).to.deep.equal([true, true]);
  });

  it('removes audio of no job when it is old', async () => {
    const kept = await queued();
    const orphan = newJobId();
    writeFileSync(audio.path(orphan), 'audio');
    bench.now = Date.now() + 3_600_000;
    run(whenAborted);
    await until(() => !existsSync(audio.path(orphan)));
    expect(existsSync(audio.path(kept))).to.equal(true);
  });
});
