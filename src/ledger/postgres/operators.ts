import type { ActionOutcome, NotedAction, OperatorAction, OperatorLog } from '../operators.js';
import { keptSubject, NOTED_ACTIONS, toNotedAction, type NotedActionRow } from '../rows/operators.js';
import type { WallClock } from '../time.js';
import type { Statements } from './statements.js';

/** See OperatorLog. */
export class PostgresOperatorLog implements OperatorLog {
  constructor(
    private readonly statements: Statements,
    private readonly clock: WallClock,
  ) {}

  async note({ operatorId, action, subject, detail = null }: OperatorAction): Promise<string> {
    const [row] = await this.statements.once<{ id: number }>(
      `INSERT INTO operator_actions (operator_id, action, subject, detail, created_at)
       VALUES ($1, $2, $3, $4, $5) RETURNING id`,
      [operatorId, action, keptSubject(subject), keptSubject(detail), this.clock()],
    );
    if (row === undefined) throw new Error('The database wrote an action and gave it no id.');
    return String(row.id);
  }

  async conclude(id: string, { outcome, subject = null }: ActionOutcome): Promise<void> {
    await this.statements.repeatable(
      `UPDATE operator_actions SET outcome = $1, subject = coalesce(subject, $2) WHERE id = $3 AND outcome IS NULL`,
      [outcome, keptSubject(subject), Number(id)],
    );
  }

  async list({ limit, before }: { limit: number; before: string | null }): Promise<NotedAction[]> {
    const last = before === null ? Number.MAX_SAFE_INTEGER : Number(before);
    const rows = await this.statements.repeatable<NotedActionRow>(
      `${NOTED_ACTIONS}
       WHERE noted.id < $1 ORDER BY noted.id DESC LIMIT $2`,
      [last, limit],
    );
    return rows.map(toNotedAction);
  }
}
