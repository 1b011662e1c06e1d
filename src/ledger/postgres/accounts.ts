import { randomId } from '../ids.js';
import type { Account, FirstAccount, IssuedKey, Role } from '../types.js';
import { checkAccount, emailTaken, normalizeEmail, toAccount, type AccountRow } from '../rows/accounts.js';
import { searchTerms } from '../search-terms.js';
import type { AccountLedger } from '../ledger.js';
import type { WallClock } from '../time.js';
import type { PostgresKeys } from './api-keys.js';
import type { Querying } from './connections.js';
import type { PostgresCredits } from './credits.js';
import type { Statements } from './statements.js';

/** PostgreSQL's advisory lock for making the first account. */
const FIRST_ACCOUNT_LOCK = 0x56425446;

export class PostgresAccounts implements AccountLedger {
  constructor(
    private readonly statements: Statements,
    private readonly parts: { keys: PostgresKeys; credits: PostgresCredits },
    private readonly clock: WallClock,
  ) {}

  create(input: { email: string; name?: string | null }): Promise<Account> {
    return this.insert((sql, values) => this.statements.once(sql, values), input);
  }

  createFirst({ email, name, role, credits, keys }: FirstAccount): Promise<IssuedKey[] | null> {
    return this.statements.transaction(async (query) => {
      await query('SELECT pg_advisory_xact_lock($1)', [FIRST_ACCOUNT_LOCK]);
      if ((await query('SELECT 1 FROM accounts LIMIT 1')).length > 0) return null;
      const { id: accountId } = await this.insert(query, { email, name, role });
      await this.parts.credits.insert(query, { accountId, amount: credits });
      const made: IssuedKey[] = [];
      for (const key of keys) made.push(await this.parts.keys.insert(query, { accountId, ...key }));
      return made;
    });
  }

  /** Also in a transaction of the caller's. */
  async insert(query: Querying, input: { email: string; name?: string | null; role?: Role }): Promise<Account> {
    const { email, name } = checkAccount(input);
    const [row] = await query<AccountRow>(
      `WITH made AS (
         INSERT INTO accounts (id, email, name, role, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (email) DO NOTHING RETURNING *),
       terms AS (INSERT INTO account_terms (account_id, term) SELECT made.id, term FROM made, unnest($6::text[]) term)
       SELECT * FROM made`,
      [randomId('acc'), email, name, input.role ?? 'user', this.clock(), searchTerms(email, name)],
    );
    if (row === undefined) throw emailTaken(email);
    return toAccount(row);
  }

  async find(email: string): Promise<Account | null> {
    const [row] = await this.statements.repeatable<AccountRow>('SELECT * FROM accounts WHERE email = $1', [
      normalizeEmail(email),
    ]);
    return row === undefined ? null : toAccount(row);
  }

  async list(): Promise<Account[]> {
    const rows = await this.statements.repeatable<AccountRow>(
      'SELECT * FROM accounts WHERE deleted_at IS NULL ORDER BY created_at, id',
    );
    return rows.map(toAccount);
  }
}
