import type { PasswordRecord } from '../access/password.js';
import type { AccountAccess, SignedIn, SignInLink, StartedSession, ClientInfo } from '../access/types.js';
import type { Role, Account, ApiKey } from '../types.js';
import { ADMIN_SCOPE } from '../scopes.js';
import { noAccount, normalizeEmail, refuseSuspended, toAccount, type AccountRow } from '../rows/accounts.js';
import type { KeyRow } from '../rows/api-keys.js';
import { DASHBOARD_KEY, LINK_LIFE_MS, toPassword, type PasswordRow } from '../rows/passwords.js';
import { toSession, type SessionRow } from '../rows/sessions.js';
import { digestOf, newToken } from '../rows/tokens.js';
import { toIso, type WallClock } from '../time.js';
import type { PostgresKeys } from './api-keys.js';
import type { Querying } from './connections.js';
import { PostgresSessions } from './sessions.js';
import type { Statements } from './statements.js';

export class PostgresAccess implements AccountAccess {
  readonly #sessions: PostgresSessions;
  readonly #repeatable: Querying;

  constructor(
    private readonly statements: Statements,
    private readonly keys: PostgresKeys,
    private readonly clock: WallClock,
  ) {
    this.#sessions = new PostgresSessions(clock);
    this.#repeatable = (sql, values) => statements.repeatable(sql, values);
  }

  setRole(accountId: string, role: Role): Promise<Account> {
    return this.#ofAccount(accountId, async (query) => {
      const [before] = await query<AccountRow>('SELECT * FROM accounts WHERE id = $1', [accountId]);
      const [row] = await query<AccountRow>(
        'UPDATE accounts SET role = $1 WHERE id = $2 AND deleted_at IS NULL RETURNING *',
        [role, accountId],
      );
      if (row === undefined) throw noAccount(accountId);
      if (before?.role === 'operator' && role !== 'operator') {
        await this.keys.revokeWithScope(query, accountId, ADMIN_SCOPE);
      }
      return toAccount(row);
    });
  }

  async createLink(accountId: string): Promise<SignInLink> {
    const token = newToken();
    const expiresAt = this.clock() + LINK_LIFE_MS;
    const made = await this.statements.repeatable(
      `INSERT INTO sign_in_links (digest, expires_at, account_id) SELECT $1, $2, id FROM accounts WHERE id = $3
         AND deleted_at IS NULL
       ON CONFLICT (account_id) DO UPDATE SET digest = excluded.digest, expires_at = excluded.expires_at RETURNING 1`,
      [digestOf(token), expiresAt, accountId],
    );
    if (made.length === 0) throw noAccount(accountId);
    return { token, expiresAt: toIso(expiresAt) };
  }

  async linkOwner(token: string): Promise<Account | null> {
    const [row] = await this.statements.repeatable<AccountRow>(
      `SELECT a.* FROM sign_in_links l JOIN accounts a ON a.id = l.account_id WHERE l.digest = $1 AND l.expires_at ` +
        `> $2`,
      [digestOf(token), this.clock()],
    );
    return row === undefined ? null : toAccount(row);
  }

  useLink(token: string, client: ClientInfo): Promise<StartedSession | null> {
    return this.statements.transaction(async (query) => {
      const [link] = await query<{ account_id: string }>(
        'DELETE FROM sign_in_links WHERE digest = $1 AND expires_at > $2 RETURNING account_id',
        [digestOf(token), this.clock()],
      );
      if (link === undefined) return null;
      await this.#refuseSuspended(query, link.account_id);
      return this.#sessions.start(query, link.account_id, 'link', client);
    });
  }

  async findPassword(email: string): Promise<{ account: Account; password: PasswordRecord } | null> {
    const [row] = await this.statements.repeatable<AccountRow & PasswordRow>(
      'SELECT a.*, p.* FROM accounts a JOIN passwords p ON p.account_id = a.id WHERE a.email = $1',
      [normalizeEmail(email)],
    );
    return row === undefined ? null : { account: toAccount(row), password: toPassword(row) };
  }

  setPassword(accountId: string, password: PasswordRecord, client: ClientInfo): Promise<StartedSession> {
    return this.#ofAccount(accountId, async (query) => {
      await this.#refuseDeleted(query, accountId);
      await this.#storePassword(query, accountId, password);
      await query('DELETE FROM sign_in_links WHERE account_id = $1', [accountId]);
      await this.#sessions.endAllBut(query, accountId, null);
      return this.#sessions.start(query, accountId, 'password', client);
    });
  }

  startSession(
    accountId: string,
    verified: PasswordRecord,
    client: ClientInfo,
    rehashed?: PasswordRecord,
  ): Promise<StartedSession | null> {
    return this.#ofAccount(accountId, async (query) => {
      const [present] = await query<PasswordRow>('SELECT * FROM passwords WHERE account_id = $1', [accountId]);
      if (present?.hash.equals(verified.hash) !== true) return null;
      await this.#refuseSuspended(query, accountId);
      if (rehashed !== undefined) await this.#storePassword(query, accountId, rehashed);
      return this.#sessions.start(query, accountId, 'password', client);
    });
  }

  async dashboardKey(accountId: string): Promise<ApiKey> {
    return (
      (await this.#liveDashboardKey(this.#repeatable, accountId)) ??
      (await this.#ofAccount(
        accountId,
        async (query) =>
          (await this.#liveDashboardKey(query, accountId)) ?? (await this.#newDashboardKey(query, accountId)),
      ))
    );
  }

  async findSession(token: string): Promise<SignedIn | null> {
    const [row] = await this.statements.repeatable<SessionRow & { account: AccountRow; has_password: boolean }>(
      `SELECT s.*, to_json(a) AS account, EXISTS (SELECT 1 FROM passwords p WHERE p.account_id = a.id) AS has_password
       FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.digest = $1 AND s.seen_at > $2
         AND s.created_at > $3`,
      [digestOf(token), ...this.#sessions.earliest()],
    );
    if (row === undefined) return null;
    const session = toSession(row);
    if (this.#sessions.isTouchDue(session)) await this.#sessions.touch(this.#repeatable, session);
    return { account: toAccount(row.account), session, hasPassword: row.has_password };
  }

  listSessions(accountId: string): ReturnType<AccountAccess['listSessions']> {
    return this.#sessions.list(this.#repeatable, accountId);
  }

  endSession(accountId: string, sessionId: string): Promise<boolean> {
    return this.#sessions.end((sql, values) => this.statements.once(sql, values), accountId, sessionId);
  }

  endOtherSessions(accountId: string, keptId: string): Promise<number> {
    return this.#sessions.endAllBut((sql, values) => this.statements.once(sql, values), accountId, keptId);
  }

  /** Deletes expired rows. */
  async sweep(): Promise<void> {
    await this.statements.repeatable('DELETE FROM sign_in_links WHERE expires_at <= $1', [this.clock()]);
    await this.#sessions.sweep(this.#repeatable);
  }

  /** A transaction that no other of the account comes between. */
  #ofAccount<T>(accountId: string, work: (query: Querying) => Promise<T>): Promise<T> {
    return this.statements.transaction(async (query) => {
      await query('SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [accountId]);
      return work(query);
    });
  }

  async #refuseSuspended(query: Querying, accountId: string): Promise<void> {
    const [account] = await query<AccountRow>('SELECT * FROM accounts WHERE id = $1', [accountId]);
    if (account !== undefined) refuseSuspended(account);
  }

  async #refuseDeleted(query: Querying, accountId: string): Promise<void> {
    const found = await query('SELECT 1 FROM accounts WHERE id = $1 AND deleted_at IS NULL', [accountId]);
    if (found.length === 0) throw noAccount(accountId);
  }

  async #liveDashboardKey(query: Querying, accountId: string): Promise<ApiKey | null> {
    const [row] = await query<KeyRow>(
      `SELECT k.* FROM dashboard_keys d JOIN api_keys k ON k.id = d.key_id
       WHERE d.account_id = $1 AND k.revoked_at IS NULL`,
      [accountId],
    );
    return row === undefined ? null : this.keys.toKey(row);
  }

  async #newDashboardKey(query: Querying, accountId: string): Promise<ApiKey> {
    const made = await this.keys.insert(query, { accountId, name: DASHBOARD_KEY, scopes: [] });
    await query(
      `INSERT INTO dashboard_keys (account_id, key_id) VALUES ($1, $2)
       ON CONFLICT (account_id) DO UPDATE SET key_id = excluded.key_id`,
      [accountId, made.id],
    );
    // eslint-disable-next-line @typescript-eslint/no-unused-vars -- nobody is to have it
    const { rawKey, ...key } = made;
    return key;
  }

  async #storePassword(query: Querying, accountId: string, record: PasswordRecord): Promise<void> {
    const { cost, blockSize, parallelization, salt, hash } = record;
    await query(
      `INSERT INTO passwords (account_id, cost, block_size, parallelization, salt, hash, set_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (account_id) DO UPDATE SET cost = excluded.cost, block_size = excluded.block_size,
         parallelization = excluded.parallelization, salt = excluded.salt, hash = excluded.hash,
           set_at = excluded.set_at`,
      [accountId, cost, blockSize, parallelization, salt, hash, this.clock()],
    );
  }
}
