import { randomId } from '../ids.js';
import type { Role } from '../access/types.js';
import { checkAccount, emailTaken, normalizeEmail, toAccount, type AccountRow } from '../rows/accounts.js';
import type { WallClock } from '../time.js';
import type { Account } from '../types.js';
import type { Querying } from './connections.js';
import type { Statements } from './statements.js';

export class PostgresAccounts {
  constructor(
    private readonly statements: Statements,
    private readonly clock: WallClock,
  ) {}

  create(input: { email: string; name?: string | null }): Promise<Account> {
    return this.insert((sql, values) => this.statements.once(sql, values), input);
  }

  /** Also in a transaction of the caller's. */
  async insert(
    query: Querying,
    input: { email: string; name?: string | null; role?: Role },
  ): Promise<Account> {
    const { email, name } = checkAccount(input);
    const [row] = await query<AccountRow>(
      `INSERT INTO accounts (id, email, name, role, created_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (email) DO NOTHING RETURNING *`,
      [randomId('acc'), email, name, input.role ?? 'user', this.clock()],
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
