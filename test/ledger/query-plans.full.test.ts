/** 100,000 accounts and 100,000 charges on PostgreSQL: how the pages' queries read them. */
import { expect } from 'chai';
import { PostgresAdministration } from '../../src/ledger/postgres/administration.js';
import type { SqlValue } from '../../src/ledger/postgres/connections.js';
import { Connections } from '../../src/ledger/postgres/connections.js';
import { PostgresHistory } from '../../src/ledger/postgres/history.js';
import type { Statements } from '../../src/ledger/postgres/statements.js';
import { POSTGRESQL } from './backends.js';
import { Bench, customer } from './support.js';

const MANY = 100_000;

describe('ledger: how PostgreSQL reads for the pages', () => {
  let bench: Bench;
  let connections: Connections;
  let plans: string[];
  let accountId: string;
  const clock = (): number => bench.now;

  /** Explains what is asked, and answers nothing. */
  const explaining = (): Statements => {
    const repeatable = async (sql: string, values: readonly SqlValue[] = []): Promise<never[]> => {
      const steps = await connections.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values, 10_000);
      plans.push(steps.map((step) => step['QUERY PLAN']).join('\n'));
      return [];
    };
    return { repeatable } as unknown as Statements;
  };

  before(async function () {
    bench = new Bench(POSTGRESQL);
    const { account, key } = await customer(await bench.server());
    accountId = account.id;
    connections = new Connections((await bench.place()).address, 1);
    const fill = [
      `INSERT INTO accounts (id, email, name, created_at)
       SELECT 'acc_' || n, 'user' || n || '@example.com', 'Name ' || n, n FROM generate_series(1, ${MANY}) n`,
      `INSERT INTO account_terms (account_id, term)
       SELECT 'acc_' || n, term FROM generate_series(1, ${MANY}) n, unnest(ARRAY['user' || n, 'example', 'com', 'name']) term`,
      `INSERT INTO api_keys (id, account_id, name, prefix, digest, scopes, created_at)
       SELECT 'key_' || n, 'acc_' || n, 'k', 'vb_01234567', sha256(n::text::bytea), '[]', 0
       FROM generate_series(1, ${MANY}) n`,
      `INSERT INTO credit_packs (account_id, purchased, remaining, created_at)
       SELECT 'acc_' || n, 9, 9, 0 FROM generate_series(1, ${MANY}) n`,
      `INSERT INTO sessions (id, account_id, digest, method, browser, address, created_at, seen_at)
       SELECT 's' || n, 'acc_' || n, sha256(n::text::bytea), 'link', '', '', 0, n FROM generate_series(1, ${MANY}) n`,
      `INSERT INTO holds (id, account_id, key_id, request_id, credits, created_at, settled_at)
       SELECT n, '${accountId}', '${key.id}', 'req', 0, n, n FROM generate_series(1000, ${999 + MANY}) n`,
      `INSERT INTO usage_events (hold_id, account_id, key_id, request_id, endpoint, audio_ms, minutes, credits, created_at)
       SELECT n, '${accountId}', '${key.id}', 'req', '/x', 0, 0, 0, n FROM generate_series(1000, ${999 + MANY}) n`,
      'ANALYZE',
    ];
    for (const sql of fill) await bench.rows(sql);
  });
  after(async () => {
    await connections.close();
    await bench.dispose();
  });
  beforeEach(() => (plans = []));

  it('reads activity by account and time, of filters that nothing passes, too', async () => {
    const history = new PostgresHistory(explaining(), clock);
    const query = { state: null, keyId: null, endpoint: null, days: null, limit: 50, after: null };
    await history.activity(accountId, query);
    await history.activity(accountId, { ...query, keyId: 'key_none', state: 'done', days: 90 });
    await history.activity(accountId, { ...query, endpoint: '/none', after: { at: 50_000, place: '~' } });
    expect(plans).to.have.length(3);
    for (const plan of plans) {
      expect(plan).to.contain('usage_events_by_time');
      expect(plan).not.to.match(/Seq Scan on (usage_events|holds|accounts)/);
    }
  });

  it('finds customers by words and addresses, and lists them by age', async () => {
    const administration = new PostgresAdministration(explaining(), clock);
    const query = { limit: 51, after: null };
    for (const search of [null, 'user77 example', 'user77@', 'acc_77']) {
      await administration.customers({ ...query, search });
    }
    expect(plans).to.have.length(4 + 2);
    for (const plan of plans) {
      expect(plan).to.match(/accounts_by_age|account_terms_by_term|accounts_email_key|accounts_pkey|Limit/);
      expect(plan).not.to.match(/Seq Scan on (accounts|api_keys|sessions|credit_packs) /, plan);
      const whole = /Seq Scan on account_terms/.test(plan);
      expect(!whole || plan.includes('Limit'), plan).to.equal(true);
    }
  });

  it('reads a bounded number of entries of a word that every customer has', async () => {
    const administration = new PostgresAdministration(explaining(), clock);
    await administration.customers({ limit: 51, after: null, search: 'example' });
    // With so many the planner may join with all accounts at once; their keys, sessions and packs it looks up by index.
    expect(plans.at(-1)).to.match(/Limit +\(cost=[^)]* rows=20000 /);
    expect(plans.at(-1)).not.to.match(/Seq Scan on (api_keys|sessions|credit_packs) /);
  });
});
