/** What is PostgreSQL's own: many servers, a network between them and the ledger, and a database that goes away. */
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { NewJob, StoredJob } from '../../src/ledger/jobs.js';
import { secretCheckOf } from '../../src/ledger/rows/secret.js';
import type { FirstAccount } from '../../src/ledger/types.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { Network } from '../support/network.js';
import { DATABASE_PASSWORD, sharedCluster } from '../support/postgres-cluster.js';
import { until } from '../support/until.js';
import { die, emptyDatabase, POSTGRESQL, type Place } from './backends.js';
import { Bench, codeOf, customer, hold, refusal, settlement, type KeyHolder } from './support.js';

const LEASE_MS = 30_000;

describe('ledger on PostgreSQL', () => {
  let bench: Bench;
  let place: Place;

  beforeEach(async () => {
    bench = new Bench(POSTGRESQL);
    place = await bench.place();
  });
  afterEach(() => bench.dispose());

  describe('servers', () => {
    let first: Ledger;
    let second: Ledger;
    let ann: KeyHolder;
    const balance = async (): Promise<number> => (await second.credits.balance(ann.account.id)).balance;
    /** In steps in which living servers renew their leases. */
    const pass = async (milliseconds: number): Promise<void> => {
      for (let passed = 0; passed < milliseconds; passed += 5_000) {
        bench.now += 5_000;
        await bench.runHousekeeping();
      }
    };

    beforeEach(async () => {
      first = await bench.server();
      second = await bench.server();
      ann = await customer(first, 'ann@example.com', 10);
    });
    afterEach(async () => expect(await second.audit()).to.deep.equal([]));

    it('leave alone what others hold that live, whoever starts or closes', async () => {
      const id = await hold(first, ann, 4);
      await (await bench.server()).close();
      await pass(3 * LEASE_MS);
      expect(await balance()).to.equal(6);
      expect((await first.holds.settle(id, settlement(4))).creditsRemaining).to.equal(6);
    });

    it('give back what a dead one held when its lease has lapsed, and not before', async () => {
      await hold(first, ann, 4);
      const input = { accountId: ann.account.id, key: 'k', fingerprint: 'f' };
      await first.idempotency.begin(input);
      await die(first);
      const restarted = await bench.server();
      expect(restarted.recovery.holds).to.equal(0);
      await pass(LEASE_MS - 5_000);
      expect(await balance()).to.equal(6);
      expect((await second.idempotency.begin(input)).state).to.equal('conflict');
      await pass(10_000);
      expect(await balance()).to.equal(10);
      expect((await second.idempotency.begin(input)).state).to.equal('new');
      const recovered = [second.recovery, restarted.recovery].map(({ credits }) => credits);
      expect(recovered.reduce((sum, credits) => sum + credits)).to.equal(4);
    });

    it('let an account have what a dead one worked on for it in flight again when its lease has lapsed', async () => {
      const limit = { mostInFlight: 2 };
      await hold(first, ann, 1, limit);
      await hold(first, ann, 1, limit);
      await die(first);
      expect(await codeOf(() => hold(second, ann, 1, limit))).to.equal('rate_limited');
      await pass(LEASE_MS + 5_000);
      await hold(second, ann, 1, limit);
      await hold(second, ann, 1, limit);
      expect(await codeOf(() => hold(second, ann, 1, limit))).to.equal('rate_limited');
    });

    it('have as long as a lease to come back after all of them lost the database', async () => {
      const id = await hold(first, ann, 4);
      bench.now += 10 * LEASE_MS;
      const restarted = await bench.server();
      await bench.runHousekeeping();
      expect(restarted.recovery.holds + second.recovery.holds).to.equal(0);
      expect((await first.holds.settle(id, settlement(4))).creditsRemaining).to.equal(6);
    });

    it('register again when they were given up, and go on', async () => {
      await hold(first, ann, 4);
      await bench.rows(`SELECT bury(id, ${bench.now}) FROM instances`);
      expect(await balance()).to.equal(10);
      await hold(first, ann, 3);
      expect((await first.idempotency.begin({ accountId: ann.account.id, key: 'k', fingerprint: 'f' })).state).to.equal(
        'new',
      );
      expect(await balance()).to.equal(7);
    });

    it('are notified of keys that another one revokes', async () => {
      const reported: string[] = [];
      const end = second.keys.onRevoked((id) => reported.push(id));
      await first.keys.revoke(ann.account.id, ann.key.id);
      await until(() => reported.length > 0);
      expect(reported).to.deep.equal([ann.key.id]);
      end();
      const next = await first.keys.create({ accountId: ann.account.id, name: 'next', scopes: [] });
      const also = new Promise<string>((resolve) => second.keys.onRevoked(resolve));
      await first.keys.revoke(ann.account.id, next.id);
      expect(await also).to.equal(next.id);
      expect(reported, 'ended').to.have.length(1);
    });

    it('take each job once, and no more of an account than they may', async () => {
      const { account, key } = ann;
      for (let n = 0; n < 9; n++) {
        await first.jobs.create({
          ...{ id: `job_${n}`, accountId: account.id, keyId: key.id, requestId: 'req', options: {} },
          ...{ audioSeconds: 3, credits: 1, webhook: null, mostOpen: 100, idempotency: null },
        });
      }
      const take = (ledger: Ledger) => ledger.jobs.take({ leaseMs: 1000, mostPerAccount: 5 });
      const taken = await Promise.all(Array.from({ length: 8 }, (_, n) => take(n % 2 === 0 ? first : second)));
      const ids = taken.flatMap((job) => (job === null ? [] : [job.lease.id]));
      expect(new Set(ids).size).to.equal(ids.length);
      expect(ids).to.have.length(5);
    });
  });

  describe('a first start', () => {
    const FIRST: FirstAccount = {
      ...{ email: 'local@localhost', name: 'Local', role: 'operator', credits: 1000 },
      keys: [{ name: 'first', scopes: [] }],
    };

    it('of several servers at once makes one schema and one account', async () => {
      const address = await emptyDatabase(place);
      const servers = await Promise.all(Array.from({ length: 4 }, () => bench.server({ address })));
      const made = await Promise.all(servers.map((server) => server.accounts.createFirst(FIRST)));
      expect(made.filter((keys) => keys !== null)).to.have.length(1);
      expect(await servers[0]!.accounts.list()).to.have.length(1);
    });

    it('needs the secret, the same on every server', async () => {
      expect((await refusal(() => bench.server({ secret: null }))).message).to.contain('VERBATIM_SECRET is not set');
      const ann = await customer(await bench.server());
      const wrong = await refusal(() => bench.server({ secret: 'another secret than before' }));
      expect(wrong.message).to.contain('another VERBATIM_SECRET');
      const administration = await bench.cli({ secret: null });
      expect((await administration.keys.revoke(ann.account.id, ann.key.id))?.id).to.equal(ann.key.id);
      await bench.server({ secret: 'another secret than before' });
    });
  });

  it('takes the secret that lay in a file beside a ledger on SQLite, by its digits', async () => {
    const digits = 'ab'.repeat(32);
    const check = secretCheckOf(Buffer.from(digits, 'hex')).toString('hex');
    await bench.rows(`INSERT INTO settings (name, value) VALUES ('secret_check', decode('${check}', 'hex'))`);
    const { key } = await customer(await bench.server({ secret: digits }));
    const digest = createHmac('sha256', Buffer.from(digits, 'hex')).update(key.rawKey).digest();
    const [row] = await bench.rows<{ digest: Buffer }>('SELECT digest FROM api_keys');
    expect(row?.digest).to.deep.equal(digest);
  });

  describe('behind a network', () => {
    let network: Network;
    let ledger: Ledger;
    let ann: KeyHolder;
    let errors: unknown[];
    const balance = async (): Promise<number> => (await (await bench.cli()).credits.balance(ann.account.id)).balance;
    const makeJob = (idempotency: NewJob['idempotency'] = null): Promise<StoredJob> =>
      ledger.jobs.create({
        ...{ id: 'job_1', accountId: ann.account.id, keyId: ann.key.id, requestId: 'req', options: {} },
        ...{ audioSeconds: 3, credits: 4, webhook: null, mostOpen: 100, idempotency },
      });

    beforeEach(async () => {
      network = await Network.to((await sharedCluster()).port);
      const address = new URL(place.address);
      address.port = String(network.port);
      errors = [];
      ledger = await bench.server({
        address: address.href,
        onError: (error) => errors.push(error),
        lockTimeoutMs: 400,
      });
      ann = await customer(ledger, 'ann@example.com', 10);
    });
    afterEach(async () => {
      network.heal();
      await ledger.close();
      expect(await (await bench.cli()).audit()).to.deep.equal([]);
      await network.close();
    });

    it('holds and charges once when an answer is lost on its way', async () => {
      network.breakAnswers(1);
      const id = await hold(ledger, ann, 4);
      expect(await balance()).to.equal(6);
      network.breakAnswers(1);
      expect(await ledger.holds.settle(id, settlement(3))).to.deep.equal({ creditsUsed: 3, creditsRemaining: 7 });
      expect((await ledger.history.report(ann.account.id, 1)).totalCredits).to.equal(3);
    });

    it('undoes what was begun for a request that never learned of it', async () => {
      const held = refusal(() => hold(ledger, ann, 4));
      network.breakAnswers(1000);
      expect(await held).to.include({ code: 'overloaded' });
      network.breakAnswers(0);
      await until(async () => (await balance()) === 10);
      const input = { accountId: ann.account.id, key: 'k', fingerprint: 'f' };
      const begun = refusal(() => ledger.idempotency.begin(input));
      network.breakAnswers(1000);
      expect(await begun).to.include({ code: 'overloaded' });
      network.breakAnswers(0);
      const other = await bench.server();
      await until(async () => (await other.idempotency.begin(input)).state === 'new');
    });

    it('says that it is overloaded while the network is cut, and shows no password', async () => {
      network.cut();
      const error = await refusal(() => hold(ledger, ann, 4));
      expect(error).to.include({ code: 'overloaded', retryAfterSeconds: 1 });
      expect(await codeOf(() => ledger.credits.balance(ann.account.id))).to.equal('overloaded');
      expect(await codeOf(() => ledger.keys.authenticate(ann.key.rawKey))).to.equal('overloaded');
      expect(await codeOf(() => ledger.checkWritable())).to.equal('overloaded');
      const texts = [error, error.cause, ...errors].map((each) => `${String(each)} ${JSON.stringify(each)}`);
      expect(texts.join('\n')).not.to.contain(DATABASE_PASSWORD);
      network.heal();
      await until(async () => (await codeOrDone(() => ledger.credits.balance(ann.account.id))) === 'done');
      await until(async () => (await balance()) === 10);
    });

    it('charges when the network is back, once, and gives back then what is owed', async () => {
      const [charged, released] = [await hold(ledger, ann, 4), await hold(ledger, ann, 2)];
      network.cut();
      const settling = ledger.holds.settle(charged, settlement(3));
      await ledger.holds.release(released);
      network.heal();
      expect((await settling).creditsUsed).to.equal(3);
      await until(async () => (await balance()) === 7);
      expect((await ledger.history.report(ann.account.id, 1)).totalCredits).to.equal(3);
    });

    it('makes a job once when the answer is lost on its way', async () => {
      await ledger.credits.balance(ann.account.id); // the connection is made
      network.breakAnswers(1);
      expect((await makeJob()).id).to.equal('job_1');
      expect(await balance()).to.equal(6);
      expect(await ledger.jobs.open()).to.have.length(1);
    });

    it('answers a repeat with the job that was created though its client got no answer', async () => {
      const input = { accountId: ann.account.id, key: 'k', fingerprint: 'f' };
      const begun = await ledger.idempotency.begin(input);
      if (begun.state !== 'new') throw new Error(begun.state);
      const { token } = begun;
      const made = refusal(() => makeJob({ token, ticket: { id: 'job_1' } }));
      network.breakAnswers(1000);
      expect(await made)
        .to.include({ code: 'overloaded' })
        .with.property('message')
        .that.contains('not known');
      await ledger.idempotency.abandon(token); // as whoever failed does, as soon as it can
      network.breakAnswers(0);
      await until(async () => (await codeOrDone(() => ledger.credits.balance(ann.account.id))) === 'done');
      await until(() => errors.length > 0);
      const again = await ledger.idempotency.begin(input);
      expect(again).to.have.nested.property('answer.ticket').that.includes({ id: 'job_1' });
      expect(await ledger.jobs.open()).to.have.length(1);
      expect(await balance()).to.equal(6);
    });

    it('needs one round trip for a hold, and one for a charge', async () => {
      await hold(ledger, ann, 1); // the connection is made, and has asked for the types that it needs
      network.asked = 0;
      const id = await hold(ledger, ann, 4, { mostInFlight: 9 });
      expect(network.asked).to.equal(1);
      await ledger.holds.settle(id, settlement(3));
      expect(network.asked).to.equal(2);
    });
  });
});

async function codeOrDone(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'done';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}
