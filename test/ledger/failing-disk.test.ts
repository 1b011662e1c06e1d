/** A disk that does not take what is committed: what is not on it is not charged, and no answer says that it was. */
import { expect } from 'chai';
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { createLedger, openLedger } from '../../src/ledger/sqlite/ledger.js';
import type { TakenJob } from '../../src/ledger/jobs.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { codeOf, customer, FileBench, hold, jobSettlement, SECRET, settlement, type KeyHolder } from './support.js';
import { Model } from './model.js';

/** Its syncs fail while `fails`; `during` runs in each before it ends. */
class Disk {
  fails = false;
  during: () => Promise<void> = () => Promise.resolve();

  readonly sync = async (): Promise<void> => {
    await this.during();
    if (this.fails) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
  };
}

const TERMS = { leaseMs: 30_000, mostPerAccount: 2 };

describe('ledger: a disk that fails', () => {
  let bench: FileBench;
  let disk: Disk;
  let ledger: Ledger;
  let ann: KeyHolder;
  let errors: unknown[];

  beforeEach(async () => {
    bench = new FileBench();
    disk = new Disk();
    errors = [];
    ledger = await bench.server({ syncFile: disk.sync, onError: (error) => errors.push(error) });
    ann = await customer(ledger, 'ann@example.com', 100);
  });
  afterEach(() => bench.dispose());

  const balance = async (from = ledger): Promise<number> => (await from.credits.balance(ann.account.id)).balance;
  const charged = async (from = ledger): Promise<number> => (await from.history.report(ann.account.id, 1)).totalCredits;
  const unsyncedFiles = (): string[] => readdirSync(bench.directory).filter((name) => name.includes('-unsynced-'));
  const recover = async (): Promise<void> => {
    disk.fails = false;
    bench.timers.pass(1000);
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  };
  const begin = (key: string): ReturnType<Ledger['idempotency']['begin']> =>
    ledger.idempotency.begin({ accountId: ann.account.id, key, fingerprint: 'f' });
  const newToken = async (key: string): Promise<string> => {
    const begun = await begin(key);
    if (begun.state !== 'new') throw new Error(begun.state);
    return begun.token;
  };
  const newJob = (id: string, token: string | null = null): ReturnType<Ledger['jobs']['create']> =>
    ledger.jobs.create({
      ...{ id, accountId: ann.account.id, keyId: ann.key.id, requestId: 'req_1', options: {}, audioSeconds: 60 },
      ...{ credits: 5, mostOpen: 8, webhook: { url: 'https://example.com/', secret: 'whsec_AAAA' } },
      idempotency: token === null ? null : { token, ticket: { id } },
    });
  const takeJob = async (from = ledger): Promise<TakenJob> => {
    const taken = await from.jobs.take(TERMS);
    if (taken === null) throw new Error('There was no job to take.');
    return taken;
  };

  it('is charged nothing: credits, usage and stored answer are as if the request had never been', async () => {
    const earlier = await hold(ledger, ann, 3);
    await ledger.holds.settle(earlier, settlement(3));
    const id = await hold(ledger, ann, 4);
    const idempotencyToken = await newToken('k');
    disk.fails = true;
    expect(await codeOf(() => ledger.holds.settle(id, settlement(2, { idempotencyToken })))).to.equal('overloaded');
    expect(errors).to.have.length(1).and.have.nested.property('[0].code', 'EIO');
    expect([await balance(), await charged()]).to.deep.equal([97, 3]);
    await ledger.holds.release(id);
    await ledger.idempotency.abandon(idempotencyToken);
    expect(await ledger.idempotency.has(ann.account.id, 'k')).to.equal(false);
    expect([await balance(), await charged()]).to.deep.equal([97, 3]);
    expect(await ledger.audit()).to.deep.equal([]);
    await recover();
    const again = await hold(ledger, ann, 4);
    const charge = await ledger.holds.settle(again, settlement(4, { idempotencyToken: await newToken('k') }));
    expect(charge).to.deep.equal({ creditsUsed: 4, creditsRemaining: 93 });
    expect(await charged()).to.equal(7);
  });

  it('takes the last charge of a day with it, and gives credits that have expired meanwhile to nobody', async () => {
    const expiresAt = new Date(bench.now + 60_000).toISOString();
    await ledger.credits.grant({ accountId: ann.account.id, amount: 10, expiresAt });
    const id = await hold(ledger, ann, 10);
    disk.during = () => Promise.resolve(void (bench.now += 120_000));
    disk.fails = true;
    expect(await codeOf(() => ledger.holds.settle(id, settlement(10)))).to.equal('overloaded');
    expect(await bench.rows('SELECT * FROM usage_days')).to.deep.equal([]);
    expect(await balance()).to.equal(100);
    expect(await ledger.audit()).to.deep.equal([]);
  });

  it('fails all that wait for the same sync and the next, and nobody else', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => hold(ledger, ann, 2)));
    disk.fails = true;
    const codes = await Promise.all(ids.map((id) => codeOf(() => ledger.holds.settle(id, settlement(1)))));
    expect(new Set(codes)).to.deep.equal(new Set(['overloaded']));
    expect(await ledger.keys.authenticate(ann.key.rawKey)).to.have.nested.property('account.id', ann.account.id);
    for (const id of ids) await ledger.holds.release(id);
    expect([await balance(), await charged()]).to.deep.equal([100, 0]);
  });

  it('stops holds, jobs and changes, and readiness, until a sync succeeds', async () => {
    const id = await hold(ledger, ann, 1);
    await newJob('job_0');
    disk.fails = true;
    await codeOf(() => ledger.holds.settle(id, settlement(1)));
    const refused: (() => unknown)[] = [
      () => hold(ledger, ann, 1),
      () => ledger.holds.state(ann.account.id),
      () => newJob('job_1'),
      () => ledger.credits.grant({ accountId: ann.account.id, amount: 5 }),
      () => ledger.keys.create({ accountId: ann.account.id, name: 'new', scopes: [] }),
      () => ledger.checkWritable(),
    ];
    for (const work of refused) expect(await codeOf(work)).to.equal('overloaded');
    expect(await ledger.jobs.take(TERMS)).to.equal(null);
    bench.timers.pass(1000);
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    for (const work of refused) expect(await codeOf(work)).to.equal('overloaded');
    expect(unsyncedFiles()).to.have.length(1);
    await recover();
    for (const work of refused) await work();
    expect(unsyncedFiles()).to.deep.equal([]);
    expect(statSync(`${bench.path}-wal`).size).to.be.below(200_000);
    expect(await takeJob()).to.have.nested.property('job.id', 'job_0');
    expect(await balance()).to.equal(100 - 1 - 5 - 5 + 5);
  });

  it('answers no repeat with what may be undone yet', async () => {
    const id = await hold(ledger, ann, 2);
    const idempotencyToken = await newToken('k');
    let repeat: Promise<string> | undefined;
    disk.during = async () => {
      repeat = codeOf(() => begin('k'));
      await new Promise(setImmediate);
      disk.during = () => Promise.resolve();
    };
    disk.fails = true;
    expect(await codeOf(() => ledger.holds.settle(id, settlement(2, { idempotencyToken })))).to.equal('overloaded');
    expect(await repeat).to.equal('overloaded');
  });

  it('leaves a job as it was, to be settled again, once, and notifies nobody of an end that was none', async () => {
    await newJob('job_1');
    const { lease } = await takeJob();
    const seen: unknown[] = [];
    disk.during = async () => {
      seen.push(
        codeOf(() => ledger.webhooks.take(TERMS)),
        codeOf(() => ledger.jobs.find(ann.account.id, 'job_1')),
      );
      await new Promise(setImmediate);
      disk.during = () => Promise.resolve();
    };
    disk.fails = true;
    expect(await codeOf(() => ledger.jobs.succeed(lease, jobSettlement(3)))).to.equal('overloaded');
    expect(await Promise.all(seen)).to.deep.equal(['overloaded', 'overloaded']);
    expect(await codeOf(() => ledger.jobs.succeed(lease, jobSettlement(3)))).to.equal('overloaded');
    expect(await ledger.jobs.find(ann.account.id, 'job_1')).to.include({ status: 'running', finishedAt: null });
    expect(await ledger.webhooks.countPending()).to.equal(0);
    expect(await ledger.jobs.renew([{ lease, doneSeconds: 1 }], 30_000)).to.deep.equal([]);
    expect(await ledger.audit()).to.deep.equal([]);
    await recover();
    expect(await ledger.jobs.succeed(lease, jobSettlement(3))).to.equal(true);
    expect(await ledger.jobs.succeed(lease, jobSettlement(3))).to.equal(false);
    expect([await balance(), await charged()]).to.deep.equal([97, 3]);
    expect(await ledger.webhooks.countPending()).to.equal(1);
    expect(await ledger.audit()).to.deep.equal([]);
  });

  it('reports a failed job when that is on the disk', async () => {
    await newJob('job_1');
    const { lease } = await takeJob();
    disk.fails = true;
    let isReported = false;
    const reported = ledger.jobs.fail(lease, { code: 'unsupported_audio', message: 'No.', param: null });
    void reported.then(() => (isReported = true));
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    expect(isReported).to.equal(false);
    await recover();
    expect(await reported).to.equal(true);
    expect(await balance()).to.equal(100);
  });

  it('accepts no job that it would lose: credits and Idempotency-Key are free again', async () => {
    const token = await newToken('k');
    disk.fails = true;
    expect(await codeOf(() => newJob('job_1', token))).to.equal('overloaded');
    expect(await ledger.jobs.find(ann.account.id, 'job_1')).to.equal(null);
    expect(await balance()).to.equal(100);
    expect(await ledger.idempotency.has(ann.account.id, 'k')).to.equal(false);
    expect(await ledger.audit()).to.deep.equal([]);
  });

  describe('and then the machine loses power, with a charge on the disk and its reversal lost', () => {
    let cut: string;

    /** The files as they are: the charge is written, and what is written after it never reaches the disk. */
    const copyAt = (log: number): void => {
      cut = join(bench.directory, 'cut.db');
      copyFileSync(bench.path, cut);
      writeFileSync(`${cut}-wal`, readFileSync(`${bench.path}-wal`).subarray(0, log));
      const [unsynced] = unsyncedFiles();
      copyFileSync(join(bench.directory, unsynced!), unsynced!.replace(basename(bench.path), cut));
    };
    const failing = async (work: () => unknown): Promise<void> => {
      let log = 0;
      disk.during = () => Promise.resolve(void (log = statSync(`${bench.path}-wal`).size));
      disk.fails = true;
      expect(await codeOf(work)).to.equal('overloaded');
      copyAt(log);
    };
    const start = (): Ledger => createLedger({ path: cut, secret: SECRET, clock: () => bench.now });

    it('the audit finds it, and the next start refunds it', async () => {
      const id = await hold(ledger, ann, 4);
      const idempotencyToken = await newToken('k');
      await failing(() => ledger.holds.settle(id, settlement(3, { idempotencyToken })));
      const looking = openLedger({ path: cut, secret: SECRET, clock: () => bench.now });
      expect(await looking.audit()).to.deep.equal([
        { invariant: 'no charge stands that the disk did not take', detail: `hold ${id}` },
      ]);
      expect(await charged(looking)).to.equal(3);
      await looking.close();
      const next = start();
      expect(next.recovery).to.include({ holds: 1, credits: 3 });
      expect(await next.audit()).to.deep.equal([]);
      expect([await balance(next), await charged(next)]).to.deep.equal([100, 0]);
      expect(await next.idempotency.has(ann.account.id, 'k')).to.equal(false);
      await next.close();
      expect(unsyncedFiles().filter((name) => name.startsWith('cut'))).to.deep.equal([]);
      const last = start();
      expect(last.recovery).to.include({ holds: 0, credits: 0 });
      await last.close();
    });

    it('a job waits for a server again, its credits held', async () => {
      await newJob('job_1');
      const { lease } = await takeJob();
      await failing(() => ledger.jobs.succeed(lease, jobSettlement(3)));
      const next = start();
      expect(await next.audit()).to.deep.equal([]);
      expect(await balance(next)).to.equal(97);
      const { lease: again } = await takeJob(next);
      expect(await next.jobs.succeed(again, jobSettlement(5))).to.equal(true);
      expect([await balance(next), await charged(next)]).to.deep.equal([97, 3]);
      expect(await next.audit()).to.deep.equal([]);
      await next.close();
    });
  });

  it('balances after any order of holds, charges, failures and recoveries', async function () {
    this.timeout(300_000);
    const step = fc.oneof(
      fc.record({ do: fc.constant('hold' as const), credits: fc.integer({ min: 0, max: 6 }) }),
      fc.record({ do: fc.constant('settle' as const), pick: fc.nat(9), share: fc.integer({ min: 0, max: 4 }) }),
      fc.record({ do: fc.constant('settle all' as const) }),
      fc.record({ do: fc.constant('release' as const), pick: fc.nat(9) }),
      fc.record({ do: fc.constant('fail' as const) }),
      fc.record({ do: fc.constant('recover' as const) }),
    );
    let accounts = 0;
    const life = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
      await recover();
      const who = await customer(ledger, `${++accounts}@example.com`, 20);
      const model = new Model();
      model.grant(20, Infinity);
      const seen = { failure: false };
      const settle = async (id: string, credits: number): Promise<void> => {
        const fails = disk.fails;
        const outcome = await ledger.holds.settle(id, settlement(credits)).then(
          () => 'settled',
          () => 'refused',
        );
        expect(outcome).to.equal(fails ? 'refused' : 'settled');
        if (!fails) model.settle(id, settlement(credits), bench.now);
        else await ledger.holds.release(id);
        if (fails) model.finish(id, 0, bench.now);
        seen.failure ||= fails;
      };
      for (const next of steps) {
        const open = [...model.holds.keys()];
        const picked = 'pick' in next ? open[next.pick % open.length] : undefined;
        if (next.do === 'fail') disk.fails = true;
        if (next.do === 'recover') await recover().then(() => (seen.failure = false));
        if (next.do === 'hold' && (seen.failure || next.credits > model.balance(bench.now))) {
          const expected = seen.failure ? 'overloaded' : 'insufficient_credits';
          expect(await codeOf(() => hold(ledger, who, next.credits))).to.equal(expected);
        } else if (next.do === 'hold') {
          model.hold(await hold(ledger, who, next.credits), next.credits, bench.now);
        }
        if (next.do === 'settle' && picked !== undefined) {
          await settle(picked, Math.floor(((model.holds.get(picked)?.credits ?? 0) * next.share) / 4));
        }
        if (next.do === 'settle all') await Promise.all(open.map((id) => settle(id, model.holds.get(id)!.credits)));
        if (next.do === 'release' && picked !== undefined) {
          await ledger.holds.release(picked);
          model.finish(picked, 0, bench.now);
        }
        expect((await ledger.credits.balance(who.account.id)).balance).to.equal(model.balance(bench.now));
        expect((await ledger.history.report(who.account.id, 1)).totalCredits).to.equal(model.settled);
      }
      expect(await ledger.audit()).to.deep.equal([]);
      for (const id of model.holds.keys()) await ledger.holds.release(id);
    });
    await fc.assert(life, { numRuns: 40 });
  });
});
