import type Database from 'better-sqlite3';
import type { PasswordRecord } from '../access/password.js';
import type { AccountAccess, SignedIn, SignInLink, StartedSession, ClientInfo } from '../access/types.js';
import type { Role, Account, ApiKey } from '../types.js';
import { toIso, type WallClock } from '../time.js';
import type { ApiKeys } from './api-keys.js';
import { ADMIN_SCOPE } from '../scopes.js';
import { noAccount, normalizeEmail, refuseSuspended, toAccount, type AccountRow } from '../rows/accounts.js';
import { DASHBOARD_KEY, LINK_LIFE_MS, toPassword, type PasswordRow } from '../rows/passwords.js';
import { Sessions } from './sessions.js';
import { digestOf, newToken } from '../rows/tokens.js';
import type { Transactions } from './transactions.js';

export class SqliteAccess implements AccountAccess {
  readonly #sessions: Sessions;
  readonly #account;
  readonly #setRole;
  readonly #putLink;
  readonly #link;
  readonly #dropLink;
  readonly #sweepLinks;
  readonly #password;
  readonly #putPassword;
  readonly #byEmail;
  readonly #dashboardKey;
  readonly #putDashboardKey;
  readonly #dropDashboardKey;
  readonly #dropPassword;

  constructor(
    database: Database.Database,
    private readonly clock: WallClock,
    private readonly keys: ApiKeys,
    private readonly transactions: Transactions,
  ) {
    this.#sessions = new Sessions(database, clock);
    this.#account = database.prepare<[string], AccountRow>(
      'SELECT * FROM accounts WHERE id = ? AND deleted_at IS NULL',
    );
    this.#byEmail = database.prepare<[string], AccountRow>('SELECT * FROM accounts WHERE email = ?');
    this.#dashboardKey = database
      .prepare<[string], string>('SELECT key_id FROM dashboard_keys WHERE account_id = ?')
      .pluck();
    this.#dropDashboardKey = database.prepare<[string]>('DELETE FROM dashboard_keys WHERE account_id = ?');
    this.#dropPassword = database.prepare<[string]>('DELETE FROM passwords WHERE account_id = ?');
    this.#putDashboardKey = database.prepare<[string, string]>(
      'INSERT OR REPLACE INTO dashboard_keys (account_id, key_id) VALUES (?, ?)',
    );
    this.#setRole = database.prepare<[Role, string], AccountRow>(
      'UPDATE accounts SET role = ? WHERE id = ? AND deleted_at IS NULL RETURNING *',
    );
    this.#putLink = database.prepare<[Buffer, number, string]>(
      `INSERT OR REPLACE INTO sign_in_links (digest, expires_at, account_id)
       SELECT ?, ?, id FROM accounts WHERE id = ? AND deleted_at IS NULL`,
    );
    this.#link = database.prepare<[Buffer, number], AccountRow>(
      `SELECT a.* FROM sign_in_links l JOIN accounts a ON a.id = l.account_id WHERE l.digest = ? AND l.expires_at > ?`,
    );
    this.#dropLink = database.prepare<[string]>('DELETE FROM sign_in_links WHERE account_id = ?');
    this.#sweepLinks = database.prepare<[number]>('DELETE FROM sign_in_links WHERE expires_at <= ?');
    this.#password = database.prepare<[string], PasswordRow>('SELECT * FROM passwords WHERE account_id = ?');
    this.#putPassword = database.prepare<[string, number, number, number, Buffer, Buffer, number]>(
      `INSERT OR REPLACE INTO passwords (account_id, cost, block_size, parallelization, salt, hash, set_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
  }

  setRole(accountId: string, role: Role): Promise<Account> {
    return this.transactions.write(() => {
      const before = this.#account.get(accountId);
      const row = this.#setRole.get(role, accountId);
      if (row === undefined) throw noAccount(accountId);
      if (before?.role === 'operator' && role !== 'operator') this.keys.revokeWithScope(accountId, ADMIN_SCOPE);
      return toAccount(row);
    });
  }

  createLink(accountId: string): Promise<SignInLink> {
    return this.transactions.write(() => {
      const token = newToken();
      const expiresAt = this.clock() + LINK_LIFE_MS;
      if (this.#putLink.run(digestOf(token), expiresAt, accountId).changes === 0) throw noAccount(accountId);
      return { token, expiresAt: toIso(expiresAt) };
    });
  }

  linkOwner(token: string): Promise<Account | null> {
    return this.transactions.read(() => {
      const owner = this.#ownerOf(token);
      return owner === undefined ? null : toAccount(owner);
    });
  }

  useLink(token: string, client: ClientInfo): Promise<StartedSession | null> {
    return this.transactions.write(() => {
      const owner = this.#ownerOf(token);
      if (owner === undefined) return null;
      refuseSuspended(owner);
      this.#dropLink.run(owner.id);
      return this.#sessions.start(owner.id, 'link', client);
    });
  }

  findPassword(email: string): Promise<{ account: Account; password: PasswordRecord } | null> {
    return this.transactions.read(() => {
      const account = this.#byEmail.get(normalizeEmail(email));
      const row = account === undefined ? undefined : this.#password.get(account.id);
      if (account === undefined || row === undefined) return null;
      return { account: toAccount(account), password: toPassword(row) };
    });
  }

  setPassword(accountId: string, password: PasswordRecord, client: ClientInfo): Promise<StartedSession> {
    return this.transactions.write(() => {
      if (this.#account.get(accountId) === undefined) throw noAccount(accountId);
      this.#storePassword(accountId, password);
      this.#dropLink.run(accountId);
      this.#sessions.endAllBut(accountId, null);
      return this.#sessions.start(accountId, 'password', client);
    });
  }

  startSession(
    accountId: string,
    verified: PasswordRecord,
    client: ClientInfo,
    rehashed?: PasswordRecord,
  ): Promise<StartedSession | null> {
    return this.transactions.write(() => {
      const present = this.#password.get(accountId);
      const account = this.#account.get(accountId);
      if (account === undefined || present?.hash.equals(verified.hash) !== true) return null;
      refuseSuspended(account);
      if (rehashed !== undefined) this.#storePassword(accountId, rehashed);
      return this.#sessions.start(accountId, 'password', client);
    });
  }

  async dashboardKey(accountId: string): Promise<ApiKey> {
    return (
      (await this.transactions.read(() => this.#liveDashboardKey(accountId))) ??
      (await this.transactions.write(() => this.#liveDashboardKey(accountId) ?? this.#newDashboardKey(accountId)))
    );
  }

  async findSession(token: string): Promise<SignedIn | null> {
    const digest = digestOf(token);
    const found = await this.transactions.read(() => this.#sessions.find(digest));
    if (found === null) return null;
    const { accountId, session } = found;
    if (this.#sessions.isTouchDue(session)) {
      await this.transactions.passing(() => this.#sessions.touch(session));
    }
    return this.transactions.read(() => {
      const account = this.#account.get(accountId);
      if (account === undefined) return null;
      const hasPassword = this.#password.get(accountId) !== undefined;
      return { account: toAccount(account), session, hasPassword };
    });
  }

  listSessions(accountId: string): ReturnType<AccountAccess['listSessions']> {
    return this.transactions.read(() => this.#sessions.list(accountId));
  }

  endSession(accountId: string, sessionId: string): Promise<boolean> {
    return this.transactions.write(() => this.#sessions.end(accountId, sessionId));
  }

  endOtherSessions(accountId: string, keptId: string): Promise<number> {
    return this.transactions.write(() => this.#sessions.endAllBut(accountId, keptId));
  }

  /** Nobody can sign in to the account afterwards. Callers hold the write transaction. */
  deleteAllOf(accountId: string): void {
    this.#sessions.endAllBut(accountId, null);
    this.#dropLink.run(accountId);
    this.#dropPassword.run(accountId);
    this.#dropDashboardKey.run(accountId);
  }

  /** Deletes expired rows. */
  sweep(): void {
    this.#sweepLinks.run(this.clock());
    this.#sessions.sweep();
  }

  #liveDashboardKey(accountId: string): ApiKey | null {
    const id = this.#dashboardKey.get(accountId);
    if (id === undefined) return null;
    return this.keys.list(accountId).find((key) => key.id === id && key.revokedAt === null) ?? null;
  }

  #newDashboardKey(accountId: string): ApiKey {
    // eslint-disable-next-line @typescript-eslint/no-unused-vars -- nobody is to have it
    const { rawKey, ...key } = this.keys.create({ accountId, name: DASHBOARD_KEY, scopes: [] });
    this.#putDashboardKey.run(accountId, key.id);
    return key;
  }

  #ownerOf(token: string): AccountRow | undefined {
    return this.#link.get(digestOf(token), this.clock());
  }

  #storePassword(accountId: string, record: PasswordRecord): void {
    const { cost, blockSize, parallelization, salt, hash } = record;
    this.#putPassword.run(accountId, cost, blockSize, parallelization, salt, hash, this.clock());
  }
}
