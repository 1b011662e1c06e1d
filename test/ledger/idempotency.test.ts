import type Database from 'better-sqlite3';
import { expect } from 'chai';
import { Idempotency } from '../../src/ledger/sqlite/idempotency.js';
import { JsonText } from '../../src/ledger/json.js';
import type { DerivedState, IdempotencyState } from '../../src/ledger/types.js';
import type { JsonValue } from '../../src/ledger/json.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { customer, hold, refusal, settlement, useLedger, type Bench, type KeyHolder, FileBench } from './support.js';
import { describeLedger, describeOnSqlite } from './backends.js';

const DAY = 86_400_000;

describeLedger('ledger: idempotency', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  useLedger(1000, (fixture) => ({ bench, ledger, ann } = fixture), backend);

  const begin = (fingerprint = 'f1', key = 'k1', who = ann): Promise<IdempotencyState> =>
    ledger.idempotency.begin({ accountId: who.account.id, key, fingerprint });
  const token = (state: IdempotencyState): string => {
    if (state.state !== 'new') throw new Error(`The record is ${state.state}.`);
    return state.token;
  };
  const answer = async (idempotencyToken: string, result: JsonValue = {}): Promise<void> => {
    await ledger.holds.settle(await hold(ledger, ann, 1), settlement(1, { idempotencyToken, result }));
  };

  it('replays the answer of the first', async () => {
    const result = { text: 'hello \ud800 "\0"', seconds: 0.1 + 0.2, list: [1e-9, null, true, { deep: [] }] };
    await answer(token(await begin()), result);
    const charge = { creditsUsed: 1, creditsRemaining: 999 };
    const replay = { state: 'replay', answer: { kind: 'result', result, charge } };
    expect(await begin()).to.deep.equal(replay);
    await ledger.credits.grant({ accountId: ann.account.id, amount: 5 });
    expect(await begin(), 'with the balance as it was').to.deep.equal(replay);
  });

  it('replays an answer that came as JSON already', async () => {
    const result = { text: 'hello "world"', list: [1, null] };
    const idempotencyToken = token(await begin());
    const written = new JsonText(JSON.stringify(result));
    await ledger.holds.settle(await hold(ledger, ann, 1), settlement(1, { idempotencyToken, result: written }));
    expect(await begin()).to.have.deep.nested.property('answer.result', result);
  });

  it('refuses a different request under the same key, and one that is still running', async () => {
    const first = token(await begin());
    expect(await begin('f1')).to.deep.equal({ state: 'conflict', reason: 'still_running' });
    expect(await begin('f2')).to.deep.equal({ state: 'conflict', reason: 'different_request' });
    await answer(first);
    expect(await begin('f2')).to.deep.equal({ state: 'conflict', reason: 'different_request' });
  });

  it('keeps accounts and keys apart', async () => {
    const bob = await customer(ledger, 'bob@example.com');
    token(await begin('f1', 'k1'));
    token(await begin('f1', 'k2'));
    token(await begin('f1', 'k1', bob));
  });

  it('knows a key while its request runs and while its answer is stored', async () => {
    const known = (key = 'k1', who = ann): Promise<boolean> => ledger.idempotency.has(who.account.id, key);
    expect(await known()).to.equal(false);
    await ledger.idempotency.abandon(token(await begin()));
    expect(await known()).to.equal(false);
    const running = token(await begin());
    expect(await known()).to.equal(true);
    await answer(running);
    expect([
      await known(),
      await known('k2'),
      await known('k1', await customer(ledger, 'bob@example.com')),
    ]).to.deep.equal([true, false, false]);
    bench.now += DAY;
    expect(await known()).to.equal(false);
  });

  it('removes a request that failed, but never an answer', async () => {
    const failed = token(await begin());
    await ledger.idempotency.abandon(failed);
    const second = token(await begin('f2'));
    await ledger.idempotency.abandon(failed);
    expect((await begin('f2')).state).to.equal('conflict');
    await answer(second);
    await ledger.idempotency.abandon(second);
    expect((await begin('f2')).state).to.equal('replay');
  });

  it('keeps an answer for a day from when it was given, and a running request as long as it takes', async () => {
    const slow = token(await begin());
    bench.now += 2 * DAY;
    expect((await begin()).state).to.equal('conflict');
    await answer(slow);
    bench.now += DAY - 1;
    expect((await begin()).state).to.equal('replay');
    bench.now += 1;
    await answer(token(await begin('f2')), { second: true });
    expect((await begin('f2')).state).to.equal('replay');
  });

  it('charges nothing when the record is gone', async () => {
    const lost = token(await begin());
    await ledger.idempotency.abandon(lost);
    expect((await refusal(() => answer(lost))).message).to.contain('gone or already answered');
    expect((await ledger.history.report(ann.account.id, 1)).totalCredits).to.equal(0);
    expect((await ledger.credits.balance(ann.account.id)).balance).to.equal(999); // the hold, until it is released
  });

  it('answers one record once', async () => {
    const once = token(await begin());
    await answer(once);
    expect((await refusal(() => answer(once, { again: true }))).message).to.contain('gone or already answered');
    expect((await ledger.history.report(ann.account.id, 1)).totalCredits).to.equal(1);
  });

  it('deletes old answers by and by', async () => {
    for (let n = 0; n < 120; n += 1) await answer(token(await begin('f', `k${n}`)), { text: 'private words' });
    bench.now += DAY;
    token(await begin('f', 'running'));
    await bench.server();
    const left = async (): Promise<unknown> =>
      (await bench.rows<{ n: unknown }>('SELECT count(*) AS n FROM idempotency_records'))[0]?.n;
    expect(await left()).to.equal(121);
    await bench.runHousekeeping();
    expect(await left()).to.equal(1);
  });

  describe('without a key', () => {
    const TEN_MINUTES = 600_000;
    const find = (
      { fingerprint = 'f1', retried = false, who = ann, at = ledger } = {},
      busy: string[] = [],
    ): Promise<DerivedState> => at.idempotency.beginDerived({ accountId: who.account.id, fingerprint, retried }, busy);
    const answered = async (result: JsonValue = {}): Promise<string> => {
      const state = await find();
      expect(state.state).to.equal('new');
      await answer(state.token, result);
      return state.token;
    };

    it('replays an answer until it is delivered, and to a retry after that', async () => {
      const first = await answered({ text: 'hello' });
      const charge = { creditsUsed: 1, creditsRemaining: 999 };
      const replay = {
        ...{ state: 'replay', token: first },
        answer: { kind: 'result', result: { text: 'hello' }, charge },
      };
      expect(await find()).to.deep.equal(replay);
      expect((await find({}, [first])).state, 'on its way').to.equal('new');
      await ledger.idempotency.noteDelivery(first, true);
      expect((await find()).state).to.equal('new');
      expect(await find({ retried: true })).to.deep.equal(replay);
      await ledger.idempotency.noteDelivery(first, false);
      expect(await find()).to.deep.equal(replay);
    });

    it('replays what was not delivered before what was', async () => {
      const lost = await answered({ n: 1 });
      const second = await find({}, [lost]);
      await answer(second.token, { n: 2 });
      await ledger.idempotency.noteDelivery(second.token, true);
      expect((await find({ retried: true })).token).to.equal(lost);
    });

    it('outlives the server', async () => {
      const first = await bench.server();
      const { token: lost } = await find({ at: first });
      await first.holds.settle(await hold(first, ann, 1), settlement(1, { idempotencyToken: lost }));
      await first.close();
      expect(await find()).to.include({ state: 'replay', token: lost });
      await ledger.idempotency.noteDelivery(lost, true);
      expect((await find()).state).to.equal('new');
    });

    it('keeps accounts, requests and given keys apart, and nothing past ten minutes', async () => {
      const bob = await customer(ledger, 'bob@example.com');
      const lost = await answered();
      expect((await find({ fingerprint: 'f2' })).state).to.equal('new');
      expect((await find({ who: bob, retried: true })).state).to.equal('new');
      expect((await begin()).state).to.equal('new');
      bench.now += TEN_MINUTES - 1;
      expect((await find()).token).to.equal(lost);
      bench.now += 1;
      expect((await find({ retried: true })).state).to.equal('new');
    });

    it('removes a request that failed', async () => {
      const { token: failed } = await find();
      await ledger.idempotency.abandon(failed);
      expect((await find({ retried: true })).state).to.equal('new');
      expect((await refusal(() => answer(failed))).message).to.contain('gone or already answered');
    });

    it('knows which accounts may repeat something', async () => {
      const may = (retried: boolean, who = ann): Promise<boolean> =>
        ledger.idempotency.mayBeRepeated(who.account.id, retried);
      const both = async (): Promise<boolean[]> => [await may(false), await may(true)];
      expect(await both()).to.deep.equal([false, false]);
      const token = await answered();
      expect(await both()).to.deep.equal([true, true]);
      await ledger.idempotency.noteDelivery(token, true);
      expect(await both()).to.deep.equal([false, true]);
      expect(await may(true, await customer(ledger, 'bob@example.com'))).to.equal(false);
      bench.now += TEN_MINUTES;
      expect(await both()).to.deep.equal([false, false]);
    });
  });
});

describeOnSqlite('ledger: idempotency on SQLite', () => {
  let bench: FileBench;
  beforeEach(async () => {
    bench = new FileBench();
    await bench.server();
  });
  afterEach(() => bench.dispose());

  it('looks for a request without a key among what was not delivered only, unless it is a retry', () => {
    const plans = bench.raw((database) => {
      const executed: string[] = [];
      const prepare = (sql: string): Database.Statement => {
        executed.push(sql);
        return database.prepare(sql);
      };
      new Idempotency({ prepare } as Database.Database, Date.now);
      const looked = executed.filter(
        (sql) => sql.includes('delivered_at IS NULL') && !sql.includes('ORDER BY record.delivered_at'),
      );
      return looked.map((sql) => {
        const steps = database.prepare<string[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
        return steps.all(...Array.from(sql.matchAll(/\?/g), () => '')).map(({ detail }) => detail)[0];
      });
    });
    expect(plans).to.deep.equal([
      'SEARCH record USING INDEX idempotency_undelivered (account_id=? AND fingerprint=?)',
      'SEARCH idempotency_records USING INDEX idempotency_undelivered (account_id=?)',
    ]);
  });
});
