import type Database from 'better-sqlite3';
import { randomId } from '../ids.js';
import { checkAccount, emailTaken, normalizeEmail, toAccount, type AccountRow } from '../rows/accounts.js';
import { searchTerms } from '../search-terms.js';
import type { WallClock } from '../time.js';
import type { Role, Account } from '../types.js';

export class Accounts {
  readonly #insert;
  readonly #insertTerm;
  readonly #byEmail;
  readonly #all;
  readonly #any;

  constructor(
    database: Database.Database,
    private readonly clock: WallClock,
  ) {
    this.#insert = database.prepare<[string, string, string | null, Role, number], AccountRow>(
      `INSERT INTO accounts (id, email, name, role, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (email) DO NOTHING RETURNING *`,
    );
    this.#insertTerm = database.prepare<[string, string]>('INSERT INTO account_terms (account_id, term) VALUES (?, ?)');
    this.#byEmail = database.prepare<[string], AccountRow>('SELECT * FROM accounts WHERE email = ?');
    this.#all = database.prepare<[], AccountRow>(
      'SELECT * FROM accounts WHERE deleted_at IS NULL ORDER BY created_at, id',
    );
    this.#any = database.prepare<[], number>('SELECT 1 FROM accounts LIMIT 1').pluck();
  }

  create(input: { email: string; name?: string | null; role?: Role }): Account {
    const { email, name } = checkAccount(input);
    const row = this.#insert.get(randomId('acc'), email, name, input.role ?? 'user', this.clock());
    if (row === undefined) throw emailTaken(email);
    for (const term of searchTerms(email, name)) this.#insertTerm.run(row.id, term);
    return toAccount(row);
  }

  find(email: string): Account | null {
    const row = this.#byEmail.get(normalizeEmail(email));
    return row === undefined ? null : toAccount(row);
  }

  /** Whether there is one, or was. */
  hasAny(): boolean {
    return this.#any.get() !== undefined;
  }

  list(): Account[] {
    return this.#all.all().map(toAccount);
  }
}
