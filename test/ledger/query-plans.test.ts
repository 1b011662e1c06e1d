/** Pages of accounts with much data read little of it: their queries go by an index. */
import { expect } from 'chai';
import { SqliteAdministration, type AdministrationParts } from '../../src/ledger/sqlite/administration.js';
import type { Database } from '../../src/ledger/sqlite/driver.js';
import { SqliteHistory } from '../../src/ledger/sqlite/history.js';
import type { Transactions } from '../../src/ledger/sqlite/transactions.js';
import { FileBench } from './support.js';

type Connection = InstanceType<typeof Database>;

describe('ledger: how SQLite reads for the pages', () => {
  let bench: FileBench;

  beforeEach(async () => {
    bench = new FileBench();
    await bench.server();
  });
  afterEach(() => bench.dispose());

  /** The steps of each statement that is prepared within `work` and has the text. */
  const plansOf = (text: string, work: (database: Connection) => void): string[][] =>
    bench.raw((database) => {
      const prepared: string[] = [];
      const prepare = (sql: string): unknown => {
        prepared.push(sql);
        return database.prepare(sql);
      };
      work({ prepare } as Connection);
      return prepared.filter((sql) => sql.includes(text)).map((sql) => planOf(database, sql));
    });

  function planOf(database: Connection, sql: string): string[] {
    const named = Array.from(sql.matchAll(/@(\w+)/g), ([, name]) => [name, name === 'others' ? '[]' : 0] as const);
    const places = Array.from(sql.matchAll(/\?/g), () => 0);
    const explain = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
    const steps = named.length > 0 ? explain.all(Object.fromEntries(named)) : explain.all(...places);
    return steps.map(({ detail }) => detail);
  }

  const history = (database: Connection): unknown => new SqliteHistory(database, Date.now, {} as Transactions);
  const administration = (database: Connection): unknown =>
    new SqliteAdministration(database, {} as AdministrationParts);
  /** What reads a table from one end to the other; results of subqueries are no tables. */
  const scans = (plan: readonly string[]): string[] =>
    plan.filter((step) => /^SCAN (?!found|scanned|floors|match\b|other\b|\w+_(found|floor)\b|\(|CONSTANT)/.test(step));

  it('reads activity by account and time', () => {
    const [plan = [], ...others] = plansOf('AS MATERIALIZED (SELECT max(at)', history);
    expect(others).to.deep.equal([]);
    expect(scans(plan)).to.deep.equal([]);
    expect(plan.join('\n'))
      .to.contain('usage_events_by_time (account_id=? AND created_at>? AND created_at<?)')
      .and.to.contain('jobs_of_account (account_id=? AND created_at>? AND created_at<?)')
      .and.to.contain('holds_running_of_account (account_id=?)');
  });

  it('reads usage of keys and models by account and day', () => {
    const plans = plansOf('FROM usage_keys', history);
    expect(plans).to.have.length(2);
    for (const plan of plans) expect(plan[0]).to.contain('USING PRIMARY KEY (account_id=? AND day>?)');
  });

  it('lists customers by age, and finds them by id, address and words', () => {
    const plans = plansOf('AS seen_at', administration);
    expect(plans).to.have.length(4);
    for (const plan of plans) expect(scans(plan), plan.join('\n')).to.deep.equal([]);
    expect(plans[0]?.[0]).to.contain('accounts_by_age');
    expect(plans[2]?.[0]).to.match(/USING INDEX sqlite_autoindex_\w*accounts_2 \(email>\? AND email<\?\)/);
    expect(plans[3]?.join('\n')).to.contain('account_terms_by_term (term>? AND term<?)');
  });
});
