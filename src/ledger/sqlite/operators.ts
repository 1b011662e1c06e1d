import type Database from 'better-sqlite3';
import type { ActionOutcome, DatabaseAction, NotedAction, OperatorAction, OperatorLog } from '../operators.js';
import { keptSubject, NOTED_ACTIONS, toNotedAction, type NotedActionRow } from '../rows/operators.js';
import type { WallClock } from '../time.js';
import type { Transactions } from './transactions.js';

/** What was done by the command line, in a database of this version's schema. */
export function noteDone(database: Database.Database, { action, detail = null }: DatabaseAction): void {
  database
    .prepare(`INSERT INTO operator_actions (action, detail, outcome, created_at) VALUES (?, ?, 'done', ?)`)
    .run(action, keptSubject(detail), Date.now());
}

/** See OperatorLog. */
export class SqliteOperatorLog implements OperatorLog {
  readonly #insert;
  readonly #conclude;
  readonly #list;

  constructor(
    database: Database.Database,
    private readonly clock: WallClock,
    private readonly transactions: Transactions,
  ) {
    this.#insert = database.prepare<[string | null, string, string | null, string | null, number]>(
      'INSERT INTO operator_actions (operator_id, action, subject, detail, created_at) VALUES (?, ?, ?, ?, ?)',
    );
    this.#conclude = database.prepare<[string, string | null, number]>(
      `UPDATE operator_actions SET outcome = ?, subject = coalesce(subject, ?) WHERE id = ? AND outcome IS NULL`,
    );
    this.#list = database.prepare<[number, number], NotedActionRow>(
      `${NOTED_ACTIONS}
       WHERE noted.id < ? ORDER BY noted.id DESC LIMIT ?`,
    );
  }

  note({ operatorId, action, subject, detail = null }: OperatorAction): Promise<string> {
    return this.transactions.write(() => {
      const values = [operatorId, action, keptSubject(subject), keptSubject(detail), this.clock()] as const;
      return String(this.#insert.run(...values).lastInsertRowid);
    });
  }

  conclude(id: string, { outcome, subject = null }: ActionOutcome): Promise<void> {
    return this.transactions.write(() => void this.#conclude.run(outcome, keptSubject(subject), Number(id)));
  }

  list({ limit, before }: { limit: number; before: string | null }): Promise<NotedAction[]> {
    const last = before === null ? Number.MAX_SAFE_INTEGER : Number(before);
    return this.transactions.read(() => this.#list.all(last, limit).map(toNotedAction));
  }
}
