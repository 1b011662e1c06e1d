import { setImmediate } from 'node:timers/promises';
import type Database from 'better-sqlite3';
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
  type KeptAnswerRow,
  type KeptEventRow,
} from '../rows/administration.js';
import { toIsoOrNull, type WallClock } from '../time.js';
import type { Account } from '../types.js';
import type { SqliteAccess } from './access.js';
import { noAccount, toAccount, type AccountRow } from '../rows/accounts.js';
import type { ApiKeys } from './api-keys.js';
import type { Credits } from './credits.js';
import type { Holds } from './holds.js';
import type { Transactions } from './transactions.js';
import type { SqliteTranscripts } from './transcripts.js';

export interface AdministrationParts {
  keys: ApiKeys;
  credits: Credits;
  holds: Holds;
  access: SqliteAccess;
  transcripts: SqliteTranscripts;
  transactions: Transactions;
  clock: WallClock;
  /** Called within the transaction in which a text is deleted. */
  onErased: () => void;
}

/** See AccountAdministration. */
export class SqliteAdministration implements AccountAdministration {
  readonly #statements;

  constructor(
    database: Database.Database,
    private readonly parts: AdministrationParts,
  ) {
    this.#statements = prepare(database);
  }

  find(accountId: string): Promise<Account | null> {
    return this.parts.transactions.read(() => {
      const row = this.#statements.find.get(accountId);
      return row === undefined ? null : toAccount(row);
    });
  }

  list({ limit, after }: { limit: number; after: AccountPlace | null }): Promise<Account[]> {
    const place = { createdAt: after === null ? -1 : Date.parse(after.createdAt), id: after?.id ?? '' };
    return this.parts.transactions.read(() => this.#statements.list.all({ ...place, limit }).map(toAccount));
  }

  customers({ search, limit, after }: CustomerQuery): Promise<ListedAccount[]> {
    return this.parts.transactions.read(() => {
      const now = this.parts.clock();
      if (search !== null) return this.#found(customerSearch(search), now, limit).map(toListedAccount);
      const place = { createdAt: after === null ? -1 : Date.parse(after.createdAt), id: after?.id ?? '' };
      return this.#statements.customers.all({ ...place, now, limit }).map(toListedAccount);
    });
  }

  #found(search: CustomerSearch, now: number, limit: number): ListedAccountRow[] {
    const statements = this.#statements;
    if (search.by === 'id') return statements.customerOfId.all({ now, id: search.id });
    if (search.by === 'address') return statements.customersOfAddress.all({ now, limit, ...search });
    const rarest = rarestFirst(search.words, (range) => statements.countMatches.get(range) ?? 0);
    const [word, ...others] = rarest;
    if (word === undefined) return [];
    return statements.customersOfWords.all({ now, limit, ...word, others: JSON.stringify(others) });
  }

  suspend(accountId: string): Promise<Account> {
    return this.#change(() => this.#statements.suspend.get(this.parts.clock(), accountId), accountId);
  }

  resume(accountId: string): Promise<Account> {
    return this.#change(() => this.#statements.resume.get(accountId), accountId);
  }

  async delete(accountId: string): Promise<void> {
    const { transactions } = this.parts;
    await transactions.write(() => this.#anonymize(accountId));
    while (await transactions.write(() => this.#eraseSome(accountId))) await setImmediate();
  }

  /** One step of a deletion that a dead process left unfinished. */
  sweep(inTransaction: (work: () => boolean) => boolean): void {
    const accountId = this.#statements.toErase.get();
    if (accountId !== undefined) inTransaction(() => this.#eraseSome(accountId));
  }

  async usage(query: UsageQuery): Promise<AccountUsage[]> {
    const { first, last, place } = checkUsageQuery(query);
    const behind = { afterDay: place.day, afterAccount: place.accountId, afterEndpoint: place.endpoint };
    const { accountId: account, limit } = query;
    return this.parts.transactions.read(() =>
      this.#statements.usage.all({ first, last, account, limit, ...behind }).map(toAccountUsage),
    );
  }

  signInMethods(accountId: string): Promise<SignInMethods> {
    return this.parts.transactions.read(() => ({
      passwordSetAt: toIsoOrNull(this.#statements.passwordSetAt.get(accountId) ?? null),
      linkExpiresAt: toIsoOrNull(this.#statements.linkExpiresAt.get(accountId) ?? null),
    }));
  }

  answers(accountId: string, { limit, after }: Page): Promise<{ place: string; kept: KeptAnswer }[]> {
    return this.parts.transactions.read(() =>
      this.#statements.answers.all(accountId, after ?? '', limit).map(toKeptAnswer),
    );
  }

  webhookEvents(accountId: string, { limit, after }: Page): Promise<KeptWebhookEvent[]> {
    return this.parts.transactions.read(() =>
      this.#statements.webhookEvents.all(accountId, after ?? '', limit).map(toKeptEvent),
    );
  }

  #change(work: () => AccountRow | undefined, accountId: string): Promise<Account> {
    return this.parts.transactions.write(() => {
      const row = work();
      if (row === undefined) throw noAccount(accountId);
      return toAccount(row);
    });
  }

  /** Whose it was, and what still could happen in its name. A request's hold is released by its server. */
  #anonymize(accountId: string): void {
    const { keys, credits, holds, access, clock } = this.parts;
    const statements = this.#statements;
    if (statements.anonymize.run(clock(), accountId).changes === 0) throw noAccount(accountId);
    for (const job of statements.openJobs.all(accountId)) {
      holds.releaseOf(job);
      statements.dropJob.run(job);
    }
    credits.forfeit(accountId);
    keys.anonymizeAllOf(accountId);
    statements.dropTerms.run(accountId);
    statements.dropNotes.run(accountId);
    access.deleteAllOf(accountId);
  }

  /** Transcripts, then jobs, then answers, then what usage says beside money; true when there is more. */
  #eraseSome(accountId: string): boolean {
    const statements = this.#statements;
    this.parts.onErased();
    if (this.parts.transcripts.eraseSome(accountId)) return true;
    if (statements.dropJobs.run(accountId).changes > 0) return true;
    if (statements.dropAnswers.run(accountId).changes > 0) return true;
    const charged = statements.nextCharged.all(accountId);
    const ids = JSON.stringify(charged);
    statements.eraseUsage.run(ids);
    statements.eraseHolds.run(ids);
    statements.noteErased.run(charged.length === ERASE_LIMIT ? (charged.at(-1) ?? null) : null, accountId);
    return charged.length === ERASE_LIMIT;
  }
}

function prepare(database: Database.Database) {
  return {
    find: database.prepare<[string], AccountRow>('SELECT * FROM accounts WHERE id = ? AND deleted_at IS NULL'),
    list: database.prepare<{ createdAt: number; id: string; limit: number }, AccountRow>(
      `SELECT * FROM accounts WHERE deleted_at IS NULL AND (created_at, id) > (@createdAt, @id)
       ORDER BY created_at, id LIMIT @limit`,
    ),
    customers: database.prepare<Record<string, string | number>, ListedAccountRow>(
      `${customerSql('@now')} WHERE a.deleted_at IS NULL AND (a.created_at, a.id) > (@createdAt, @id)
       ORDER BY a.created_at, a.id LIMIT @limit`,
    ),
    customerOfId: database.prepare<Record<string, string | number>, ListedAccountRow>(
      `${customerSql('@now')} WHERE a.id = @id AND a.deleted_at IS NULL`,
    ),
    customersOfAddress: database.prepare<Record<string, string | number>, ListedAccountRow>(
      `${customerSql('@now')} WHERE a.email >= @from AND a.email < @to ORDER BY a.email LIMIT @limit`,
    ),
    countMatches: database
      .prepare<{ from: string; to: string }, number>(
        `SELECT count(*) FROM (SELECT 1 FROM account_terms WHERE term >= @from AND term < @to LIMIT ${MOST_MATCHES})`,
      )
      .pluck(),
    customersOfWords: database.prepare<Record<string, string | number>, ListedAccountRow>(
      `WITH found AS MATERIALIZED (
         SELECT DISTINCT account_id FROM
           (SELECT account_id FROM account_terms WHERE term >= @from AND term < @to LIMIT ${MOST_MATCHES}) match
         WHERE NOT EXISTS (SELECT 1 FROM json_each(@others) other WHERE NOT EXISTS (
           SELECT 1 FROM account_terms known WHERE known.account_id = match.account_id
             AND known.term >= other.value ->> 'from' AND known.term < other.value ->> 'to')))
       ${customerSql('@now')} JOIN found ON found.account_id = a.id ORDER BY a.created_at, a.id LIMIT @limit`,
    ),
    suspend: database.prepare<[number, string], AccountRow>(
      `UPDATE accounts SET suspended_at = coalesce(suspended_at, ?) WHERE id = ? AND deleted_at IS NULL RETURNING *`,
    ),
    resume: database.prepare<[string], AccountRow>(
      'UPDATE accounts SET suspended_at = NULL WHERE id = ? AND deleted_at IS NULL RETURNING *',
    ),
    anonymize: database.prepare<[number, string]>(
      `UPDATE accounts SET email = NULL, name = NULL, role = 'user', deleted_at = ?, erased_to = 0
       WHERE id = ? AND deleted_at IS NULL`,
    ),
    dropNotes: database.prepare<[string]>(
      'UPDATE credit_packs SET note = NULL WHERE account_id = ? AND note IS NOT NULL',
    ),
    dropTerms: database.prepare<[string]>('DELETE FROM account_terms WHERE account_id = ?'),
    openJobs: database
      .prepare<[string], string>(`SELECT id FROM jobs WHERE account_id = ? AND status IN ('queued', 'running')`)
      .pluck(),
    dropJob: database.prepare<[string]>('DELETE FROM jobs WHERE id = ?'),
    toErase: database.prepare<[], string>('SELECT id FROM accounts WHERE erased_to IS NOT NULL LIMIT 1').pluck(),
    dropJobs: database.prepare<[string]>(
      `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE account_id = ? LIMIT ${ERASE_LIMIT})`,
    ),
    // A request that still runs drops its own.
    dropAnswers: database.prepare<[string]>(
      `DELETE FROM idempotency_records WHERE token IN
         (SELECT token FROM idempotency_records WHERE account_id = ? AND expires_at IS NOT NULL LIMIT ${ERASE_LIMIT})`,
    ),
    nextCharged: database
      .prepare<[string], number>(
        `SELECT event.hold_id FROM usage_events event JOIN accounts a ON a.id = event.account_id
         WHERE event.account_id = ? AND event.hold_id > a.erased_to ORDER BY event.hold_id LIMIT ${ERASE_LIMIT}`,
      )
      .pluck(),
    eraseUsage: database.prepare<[string]>(
      `UPDATE usage_events SET request_id = '', transcription_id = NULL, language = NULL
       WHERE hold_id IN (SELECT value FROM json_each(?))`,
    ),
    eraseHolds: database.prepare<[string]>(
      `UPDATE holds SET request_id = '', file_name = NULL WHERE id IN (SELECT value FROM json_each(?))`,
    ),
    noteErased: database.prepare<[number | null, string]>('UPDATE accounts SET erased_to = ? WHERE id = ?'),
    usage: database.prepare<Record<string, string | number | null>, AccountUsageRow>(
      `SELECT day, account_id, email, endpoint, requests, minutes, credits
       FROM usage_days JOIN accounts a ON a.id = account_id
       WHERE (day, account_id, endpoint) > (@afterDay, @afterAccount, @afterEndpoint) AND day BETWEEN @first AND @last
         AND (@account IS NULL OR account_id = @account)
       ORDER BY day, account_id, endpoint LIMIT @limit`,
    ),
    passwordSetAt: database.prepare<[string], number>('SELECT set_at FROM passwords WHERE account_id = ?').pluck(),
    linkExpiresAt: database
      .prepare<[string], number>('SELECT expires_at FROM sign_in_links WHERE account_id = ?')
      .pluck(),
    answers: database.prepare<[string, string, number], KeptAnswerRow>(
      `SELECT key, derived, result, body, created_at, expires_at FROM idempotency_records
       WHERE account_id = ? AND expires_at IS NOT NULL AND key > ? ORDER BY key LIMIT ?`,
    ),
    webhookEvents: database.prepare<[string, string, number], KeptEventRow>(
      `SELECT event.id, event.job_id, event.attempts, event.created_at, event.delivered_at, event.last_problem
       FROM jobs JOIN webhook_events event ON event.job_id = jobs.id
       WHERE jobs.account_id = ? AND jobs.id > ? ORDER BY jobs.id LIMIT ?`,
    ),
  };
}
