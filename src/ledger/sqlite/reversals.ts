import type Database from 'better-sqlite3';
import { utcDay, type WallClock } from '../time.js';
import type { Credits, PackPart } from './credits.js';
import type { Holds } from './holds.js';

/** Which settlement it was: a time beside the id, so that a restored backup's charge is not taken for it. */
export interface SettledHold {
  id: number;
  settledAt: number;
}

interface ChargeRow {
  account_id: string;
  key_id: string;
  request_id: string;
  credits: number;
  created_at: number;
  file_name: string | null;
  model: string | null;
  endpoint: string;
  minutes: number;
  charged_at: number;
}

/**
 * Takes back charges that the disk did not take: the packs get their credits again, and usage row and stored answer go.
 * A job runs again, with the same credits held. Callers hold the write transaction.
 */
export class Reversals {
  readonly #statements;

  constructor(
    database: Database.Database,
    private readonly parts: { credits: Credits; holds: Holds },
    private readonly clock: WallClock,
  ) {
    this.#statements = prepare(database);
  }

  /** null: the hold is not settled. */
  settledHold(id: number): SettledHold | null {
    const settledAt = this.#statements.settledAt.get(id) ?? null;
    return settledAt === null ? null : { id, settledAt };
  }

  stands({ id, settledAt }: SettledHold): boolean {
    return this.#statements.settledAt.get(id) === settledAt;
  }

  /**
   * Credits that went back to their packs; null: there is no such charge, or no longer. `worker`: whose a job is then;
   * null: it waits.
   */
  reverse(charge: SettledHold, worker: string | null): number | null {
    const statements = this.#statements;
    const { id } = charge;
    const row = this.stands(charge) ? statements.find.get(id) : undefined;
    if (row === undefined) return null;
    const parts = statements.parts.all(id);
    const job = statements.job.get(id);
    statements.begin.run(id);
    statements.dropAnswer.run(id);
    if (job !== undefined) {
      statements.dropEvent.run(job);
      // The server that works on it renews the lease.
      statements.reopenJob.run({ job, worker, now: this.clock() });
    }
    statements.dropUsage.run(id);
    this.#takeFromDay(row);
    statements.dropHold.run(id);
    statements.end.run();
    for (const part of parts) statements.holdAgain.run(part);
    if (job !== undefined) this.parts.holds.reopenOf(job, row, parts);
    else for (const part of parts) this.parts.credits.finish(part, 0);
    return job === undefined ? row.credits : 0;
  }

  #takeFromDay({ account_id, key_id, endpoint, model, minutes, credits, charged_at }: ChargeRow): void {
    const statements = this.#statements;
    const day = { account_id, endpoint, day: utcDay(charged_at) };
    if (statements.dropDay.run(day).changes === 0) statements.takeFromDay.run({ ...day, minutes, credits });
    const key = { account_id, key_id, model: model ?? '', day: utcDay(charged_at) };
    if (statements.dropKey.run(key).changes === 0) statements.takeFromKey.run({ ...key, minutes, credits });
  }
}

function prepare(database: Database.Database) {
  return {
    settledAt: database.prepare<[number], number | null>('SELECT settled_at FROM holds WHERE id = ?').pluck(),
    find: database.prepare<[number], ChargeRow>(
      `SELECT hold.account_id, hold.key_id, hold.request_id, hold.credits, hold.created_at, hold.file_name,
         event.endpoint, event.model, event.minutes, event.created_at AS charged_at
       FROM holds hold JOIN usage_events event ON event.hold_id = hold.id WHERE hold.id = ?`,
    ),
    parts: database.prepare<[number], PackPart>('SELECT pack_id, credits FROM hold_parts WHERE hold_id = ?'),
    job: database.prepare<[number], string>('SELECT id FROM jobs WHERE hold_id = ?').pluck(),
    begin: database.prepare<[number]>(`INSERT OR REPLACE INTO settings (name, value) VALUES ('reversing', ?)`),
    end: database.prepare<[]>(`DELETE FROM settings WHERE name = 'reversing'`),
    dropAnswer: database.prepare<[number]>('DELETE FROM idempotency_records WHERE hold_id = ?'),
    dropEvent: database.prepare<[string]>('DELETE FROM webhook_events WHERE job_id = ?'),
    reopenJob: database.prepare<{ job: string; worker: string | null; now: number }>(
      `UPDATE jobs SET status = iif(@worker IS NULL, 'queued', 'running'), instance_id = @worker, done_seconds = 0,
         lease_expires_at = iif(@worker IS NULL, NULL, @now + 30000),
         finished_at = NULL, hold_id = NULL, result = NULL, credits_remaining = NULL
       WHERE id = @job`,
    ),
    dropUsage: database.prepare<[number]>('DELETE FROM usage_events WHERE hold_id = ?'),
    dropDay: database.prepare<{ account_id: string; endpoint: string; day: number }>(
      `DELETE FROM usage_days WHERE account_id = @account_id AND day = @day AND endpoint = @endpoint AND requests = 1`,
    ),
    takeFromDay: database.prepare<Record<string, string | number>>(
      `UPDATE usage_days SET requests = requests - 1, minutes = minutes - @minutes, credits = credits - @credits
       WHERE account_id = @account_id AND day = @day AND endpoint = @endpoint`,
    ),
    dropKey: database.prepare<{ account_id: string; key_id: string; model: string; day: number }>(
      `DELETE FROM usage_keys
       WHERE account_id = @account_id AND day = @day AND key_id = @key_id AND model = @model AND requests = 1`,
    ),
    takeFromKey: database.prepare<Record<string, string | number>>(
      `UPDATE usage_keys SET requests = requests - 1, minutes = minutes - @minutes, credits = credits - @credits
       WHERE account_id = @account_id AND day = @day AND key_id = @key_id AND model = @model`,
    ),
    dropHold: database.prepare<[number]>('DELETE FROM holds WHERE id = ?'),
    holdAgain: database.prepare<PackPart>(
      'UPDATE credit_packs SET spent = spent - @credits, held = held + @credits WHERE id = @pack_id',
    ),
  };
}
