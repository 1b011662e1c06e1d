import type Database from 'better-sqlite3';
import { VerbatimError } from '../../errors.js';
import { randomId } from '../ids.js';
import { lengthOf, UNPRINTABLE } from '../text.js';
import { toIso, type WallClock } from '../time.js';
import type { Role } from '../access/types.js';
import type { Account } from '../types.js';

const MAX_NAME_LENGTH = 100;

export interface AccountRow {
  id: string;
  email: string;
  name: string | null;
  role: Role;
  created_at: number;
}

export function toAccount(row: AccountRow): Account {
  const { id, email, name, role } = row;
  return { id, email, name, role, createdAt: toIso(row.created_at) };
}

export class Accounts {
  readonly #insert;
  readonly #byEmail;
  readonly #all;

  constructor(
    database: Database.Database,
    private readonly clock: WallClock,
  ) {
    this.#insert = database.prepare<[string, string, string | null, Role, number], AccountRow>(
      `INSERT INTO accounts (id, email, name, role, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (email) DO NOTHING RETURNING *`,
    );
    this.#byEmail = database.prepare<[string], AccountRow>('SELECT * FROM accounts WHERE email = ?');
    this.#all = database.prepare<[], AccountRow>('SELECT * FROM accounts ORDER BY created_at, id');
  }

  create(input: { email: string; name?: string | null; role?: Role }): Account {
    const email = normalizeEmail(input.email);
    if (email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email) || UNPRINTABLE.test(email)) {
      throw new VerbatimError(
        'invalid_request',
        `"${input.email.slice(0, 254)}" is not an email address; allowed: name@host, at most 254 characters, no controls.`,
        { param: 'email' },
      );
    }
    const name = checkName(input.name ?? '');
    const row = this.#insert.get(randomId('acc'), email, name, input.role ?? 'user', this.clock());
    if (row !== undefined) return toAccount(row);
    throw new VerbatimError('invalid_request', `There is already an account for ${email}.`, {
      param: 'email',
    });
  }

  find(email: string): Account | null {
    const row = this.#byEmail.get(normalizeEmail(email));
    return row === undefined ? null : toAccount(row);
  }

  list(): Account[] {
    return this.#all.all().map(toAccount);
  }
}

function checkName(given: string): string | null {
  const name = given.trim();
  if (lengthOf(name) <= MAX_NAME_LENGTH && !UNPRINTABLE.test(name)) return name || null;
  throw new VerbatimError(
    'invalid_request',
    `The account's name must be text of at most ${MAX_NAME_LENGTH} characters, without control characters and lone surrogates.`,
    { param: 'name' },
  );
}

/** ASCII only, as SQLite's lower() in the table's CHECK. */
export function normalizeEmail(email: string): string {
  return email.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
