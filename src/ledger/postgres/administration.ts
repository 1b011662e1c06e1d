import type {
  AccountAdministration,
  AccountPlace,
  AccountUsage,
  ListedAccount,
  CustomerQuery,
  KeptAnswer,
  KeptWebhookEvent,
  Page,
  SignInMethods,
  UsageQuery,
} from '../administration.js';
import { noAccount, toAccount, type AccountRow } from '../rows/accounts.js';
import {
  checkUsageQuery,
  customerSearch,
  customerSql,
  ERASE_LIMIT,
  MOST_MATCHES,
  rarestFirst,
  toAccountUsage,
  toListedAccount,
  toKeptAnswer,
  toKeptEvent,
  type AccountUsageRow,
  type ListedAccountRow,
  type CustomerSearch,
  type TermRange,
  type KeptAnswerRow,
  type KeptEventRow,
} from '../rows/administration.js';
import { toIsoOrNull, type WallClock } from '../time.js';
import type { Account } from '../types.js';
import { REVOKED_CHANNEL } from './revocations.js';
import type { Querying } from './connections.js';
import type { Statements } from './statements.js';
import { eraseTranscripts } from './transcript-writes.js';

/** Servers are notified when it is committed. */
const NOTIFY_REVOKED = `SELECT pg_notify('${REVOKED_CHANNEL}', id) FROM api_keys WHERE account_id = $1`;

const CUSTOMERS = customerSql('$1');
const CUSTOMERS_OF_WORDS = `
  WITH found AS MATERIALIZED (
    SELECT DISTINCT account_id FROM
      (SELECT account_id FROM account_terms WHERE term >= $2 AND term < $3 LIMIT ${MOST_MATCHES}) matched
    WHERE NOT EXISTS (SELECT 1 FROM unnest($4::text[], $5::text[]) AS other (first, last) WHERE NOT EXISTS (
      SELECT 1 FROM account_terms known WHERE known.account_id = matched.account_id
        AND known.term >= other.first AND known.term < other.last)))
  ${CUSTOMERS} JOIN found ON found.account_id = a.id ORDER BY a.created_at, a.id LIMIT $6`;

/** See AccountAdministration. */
export class PostgresAdministration implements AccountAdministration {
  constructor(
    private readonly statements: Statements,
    private readonly clock: WallClock,
  ) {}

  async find(accountId: string): Promise<Account | null> {
    const [row] = await this.statements.repeatable<AccountRow>(
      'SELECT * FROM accounts WHERE id = $1 AND deleted_at IS NULL',
      [accountId],
    );
    return row === undefined ? null : toAccount(row);
  }

  async list({ limit, after }: { limit: number; after: AccountPlace | null }): Promise<Account[]> {
    const createdAt = after === null ? -1 : Date.parse(after.createdAt);
    const rows = await this.statements.repeatable<AccountRow>(
      `SELECT * FROM accounts WHERE deleted_at IS NULL AND (created_at, id) > ($1, $2 COLLATE "C")
       ORDER BY created_at, id LIMIT $3`,
      [createdAt, after?.id ?? '', limit],
    );
    return rows.map(toAccount);
  }

  async customers({ search, limit, after }: CustomerQuery): Promise<ListedAccount[]> {
    if (search !== null) return (await this.#found(customerSearch(search), limit)).map(toListedAccount);
    const createdAt = after === null ? -1 : Date.parse(after.createdAt);
    const rows = await this.statements.repeatable<ListedAccountRow>(
      `${CUSTOMERS} WHERE a.deleted_at IS NULL AND (a.created_at, a.id) > ($2, $3 COLLATE "C")
       ORDER BY a.created_at, a.id LIMIT $4`,
      [this.clock(), createdAt, after?.id ?? '', limit],
    );
    return rows.map(toListedAccount);
  }

  async #found(search: CustomerSearch, limit: number): Promise<ListedAccountRow[]> {
    const now = this.clock();
    if (search.by === 'id') {
      return this.statements.repeatable(`${CUSTOMERS} WHERE a.id = $2 AND a.deleted_at IS NULL`, [now, search.id]);
    }
    if (search.by === 'address') {
      const sql = `${CUSTOMERS} WHERE a.email >= $2 AND a.email < $3 ORDER BY a.email LIMIT $4`;
      return this.statements.repeatable(sql, [now, search.from, search.to, limit]);
    }
    const counts = new Map<TermRange, number>();
    for (const word of search.words) counts.set(word, await this.#countMatches(word));
    const [word, ...others] = rarestFirst(search.words, (one) => counts.get(one) ?? 0);
    if (word === undefined) return [];
    const rest = [others.map(({ from }) => from), others.map(({ to }) => to)];
    return this.statements.repeatable(CUSTOMERS_OF_WORDS, [now, word.from, word.to, ...rest, limit]);
  }

  async #countMatches({ from, to }: TermRange): Promise<number> {
    const [row] = await this.statements.repeatable<{ matches: number }>(
      `SELECT count(*) AS matches FROM
         (SELECT 1 FROM account_terms WHERE term >= $1 AND term < $2 LIMIT ${MOST_MATCHES}) matched`,
      [from, to],
    );
    return row?.matches ?? 0;
  }

  suspend(accountId: string): Promise<Account> {
    return this.#change(accountId, async (query) => {
      const rows = await query<AccountRow>(
        `UPDATE accounts SET suspended_at = coalesce(suspended_at, $1) WHERE id = $2 AND deleted_at IS NULL ` +
          `RETURNING *`,
        [this.clock(), accountId],
      );
      await query(NOTIFY_REVOKED, [accountId]);
      return rows;
    });
  }

  resume(accountId: string): Promise<Account> {
    return this.#change(accountId, (query) =>
      query<AccountRow>('UPDATE accounts SET suspended_at = NULL WHERE id = $1 AND deleted_at IS NULL RETURNING *', [
        accountId,
      ]),
    );
  }

  async delete(accountId: string): Promise<void> {
    await this.statements.transaction((query) => this.#anonymize(query, accountId));
    while (await this.#eraseSome(accountId));
  }

  /** One step of a deletion that a dead process left unfinished. */
  async sweep(): Promise<void> {
    const [left] = await this.statements.repeatable<{ id: string }>(
      'SELECT id FROM accounts WHERE erased_to IS NOT NULL LIMIT 1',
    );
    if (left !== undefined) await this.#eraseSome(left.id);
  }

  async usage(query: UsageQuery): Promise<AccountUsage[]> {
    const { first, last, place } = checkUsageQuery(query);
    const rows = await this.statements.repeatable<AccountUsageRow>(
      `SELECT day, account_id, email, endpoint, requests, minutes, credits
       FROM usage_days JOIN accounts a ON a.id = account_id
       WHERE (day, account_id, endpoint) > ($1, $2 COLLATE "C", $3 COLLATE "C") AND day BETWEEN $4 AND $5
         AND ($6::text IS NULL OR account_id = $6)
       ORDER BY day, account_id, endpoint LIMIT $7`,
      [place.day, place.accountId, place.endpoint, first, last, query.accountId, query.limit],
    );
    return rows.map(toAccountUsage);
  }

  async signInMethods(accountId: string): Promise<SignInMethods> {
    const [row] = await this.statements.repeatable<{ password: number | null; link: number | null }>(
      `SELECT (SELECT set_at FROM passwords WHERE account_id = $1) AS password,
         (SELECT expires_at FROM sign_in_links WHERE account_id = $1) AS link`,
      [accountId],
    );
    return {
      passwordSetAt: toIsoOrNull(row?.password ?? null),
      linkExpiresAt: toIsoOrNull(row?.link ?? null),
    };
  }

  async answers(accountId: string, { limit, after }: Page): Promise<{ place: string; kept: KeptAnswer }[]> {
    const rows = await this.statements.repeatable<KeptAnswerRow>(
      `SELECT key, derived, result, body, created_at, expires_at FROM idempotency_records
       WHERE account_id = $1 AND expires_at IS NOT NULL AND key > $2 ORDER BY key LIMIT $3`,
      [accountId, after ?? '', limit],
    );
    return rows.map(toKeptAnswer);
  }

  async webhookEvents(accountId: string, { limit, after }: Page): Promise<KeptWebhookEvent[]> {
    const rows = await this.statements.repeatable<KeptEventRow>(
      `SELECT event.id, event.job_id, event.attempts, event.created_at, event.delivered_at, event.last_problem
       FROM jobs JOIN webhook_events event ON event.job_id = jobs.id
       WHERE jobs.account_id = $1 AND jobs.id > $2 ORDER BY jobs.id LIMIT $3`,
      [accountId, after ?? '', limit],
    );
    return rows.map(toKeptEvent);
  }

  #change(accountId: string, work: (query: Querying) => Promise<AccountRow[]>): Promise<Account> {
    return this.statements.transaction(
      async (query) => {
        const [row] = await work(query);
        if (row === undefined) throw noAccount(accountId);
        return toAccount(row);
      },
      { repeatable: true },
    );
  }

  /** Whose it was, and what still could happen in its name. A request's hold is released by its server. */
  async #anonymize(query: Querying, accountId: string): Promise<void> {
    const now = this.clock();
    const anonymized = await query(
      `UPDATE accounts SET email = NULL, name = NULL, role = 'user', deleted_at = $1, erased_to = 0
       WHERE id = $2 AND deleted_at IS NULL RETURNING 1`,
      [now, accountId],
    );
    if (anonymized.length === 0) throw noAccount(accountId);
    await query(
      `SELECT release_hold(hold.id, NULL, $2) FROM holds hold JOIN jobs ON jobs.id = hold.job_id WHERE ` +
        `jobs.account_id = $1`,
      [accountId, now],
    );
    await query(`DELETE FROM jobs WHERE account_id = $1 AND status IN ('queued', 'running')`, [accountId]);
    await query('UPDATE credit_packs SET note = NULL WHERE account_id = $1 AND note IS NOT NULL', [accountId]);
    // Holds return their credits to a pack that has expired.
    await query(
      `UPDATE credit_packs SET expired = expired + remaining, remaining = 0, expires_at = least(expires_at, $2)
       WHERE account_id = $1 AND remaining + held > 0`,
      [accountId, now],
    );
    for (const table of ['sessions', 'sign_in_links', 'passwords', 'dashboard_keys', 'account_terms']) {
      await query(`DELETE FROM ${table} WHERE account_id = $1`, [accountId]);
    }
    // What usage refers to stays, without a name and without access.
    await query(
      `UPDATE api_keys SET name = 'deleted', prefix = 'vb_--------', scopes = '[]', last_used_at = NULL,
         digest = sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')),
           revoked_at = coalesce(revoked_at, $2)
       WHERE account_id = $1`,
      [accountId, now],
    );
    await query(NOTIFY_REVOKED, [accountId]);
  }

  /** Transcripts, then jobs, then answers, then what usage says beside money; true when there is more. */
  #eraseSome(accountId: string): Promise<boolean> {
    return this.statements.transaction(
      async (query) => {
        if (await eraseTranscripts(query, accountId)) return true;
        for (const [table, id, more] of [
          ['jobs', 'id', ''],
          // A request that still runs drops its own.
          ['idempotency_records', 'token', 'AND expires_at IS NOT NULL'],
        ] as const) {
          const dropped = await query(
            `DELETE FROM ${table} WHERE ${id} IN
               (SELECT ${id} FROM ${table} WHERE account_id = $1 ${more} LIMIT ${ERASE_LIMIT}) RETURNING 1`,
            [accountId],
          );
          if (dropped.length > 0) return true;
        }
        return this.#eraseUsage(query, accountId);
      },
      { repeatable: true },
    );
  }

  async #eraseUsage(query: Querying, accountId: string): Promise<boolean> {
    const charged = await query<{ hold_id: number }>(
      `SELECT event.hold_id FROM usage_events event JOIN accounts a ON a.id = event.account_id
       WHERE event.account_id = $1 AND event.hold_id > a.erased_to ORDER BY event.hold_id LIMIT ${ERASE_LIMIT}`,
      [accountId],
    );
    const ids = charged.map(({ hold_id: id }) => id);
    await query(
      `UPDATE usage_events SET request_id = '', transcription_id = NULL, language = NULL WHERE hold_id = ANY ($1)`,
      [ids],
    );
    await query(`UPDATE holds SET request_id = '', file_name = NULL WHERE id = ANY ($1)`, [ids]);
    const last = ids.length === ERASE_LIMIT ? (ids.at(-1) ?? null) : null;
    await query('UPDATE accounts SET erased_to = $1 WHERE id = $2', [last, accountId]);
    return last !== null;
  }
}
