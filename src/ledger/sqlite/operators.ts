import type Database from 'better-sqlite3';
import type { NotedAction, OperatorAction, OperatorLog } from '../operators.js';
import { keptSubject, toNotedAction, type NotedActionRow } from '../rows/operators.js';
import type { WallClock } from '../time.js';
import type { Transactions } from './transactions.js';

/** See OperatorLog. */
export class SqliteOperatorLog implements OperatorLog {
  readonly #insert;
  readonly #list;

  constructor(
    database: Database.Database,
    private readonly clock: WallClock,
    private readonly transactions: Transactions,
  ) {
    this.#insert = database.prepare<[string, string, string | null, number]>(
      'INSERT INTO operator_actions (operator_id, action, subject, created_at) VALUES (?, ?, ?, ?)',
    );
    this.#list = database.prepare<[number, number], NotedActionRow>(
      `SELECT noted.*, accounts.email FROM operator_actions noted JOIN accounts ON accounts.id = noted.operator_id
       WHERE noted.id < ? ORDER BY noted.id DESC LIMIT ?`,
    );
  }

  note({ operatorId, action, subject }: OperatorAction): Promise<void> {
    return this.transactions.write(() => {
      this.#insert.run(operatorId, action, keptSubject(subject), this.clock());
    });
  }

  list({ limit, before }: { limit: number; before: string | null }): Promise<NotedAction[]> {
    const last = before === null ? Number.MAX_SAFE_INTEGER : Number(before);
    return this.transactions.read(() => this.#list.all(last, limit).map(toNotedAction));
  }
}
