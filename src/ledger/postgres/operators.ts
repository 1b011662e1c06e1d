import type { NotedAction, OperatorAction, OperatorLog } from '../operators.js';
import { keptSubject, toNotedAction, type NotedActionRow } from '../rows/operators.js';
import type { WallClock } from '../time.js';
import type { Statements } from './statements.js';

/** See OperatorLog. */
export class PostgresOperatorLog implements OperatorLog {
  constructor(
    private readonly statements: Statements,
    private readonly clock: WallClock,
  ) {}

  async note({ operatorId, action, subject }: OperatorAction): Promise<void> {
    await this.statements.once(
      'INSERT INTO operator_actions (operator_id, action, subject, created_at) VALUES ($1, $2, $3, $4)',
      [operatorId, action, keptSubject(subject), this.clock()],
    );
  }

  async list({ limit, before }: { limit: number; before: string | null }): Promise<NotedAction[]> {
    const last = before === null ? Number.MAX_SAFE_INTEGER : Number(before);
    const rows = await this.statements.repeatable<NotedActionRow>(
      `SELECT noted.*, accounts.email FROM operator_actions noted JOIN accounts ON accounts.id = noted.operator_id
       WHERE noted.id < $1 ORDER BY noted.id DESC LIMIT $2`,
      [last, limit],
    );
    return rows.map(toNotedAction);
  }
}
