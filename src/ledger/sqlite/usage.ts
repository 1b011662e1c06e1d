import type Database from 'better-sqlite3';
import { checkUsage } from '../rows/usage.js';
import type { HoldRow } from './holds.js';
import { utcDay, type WallClock } from '../time.js';
import type { Settlement } from '../types.js';

/** The append-only record of charges, and its sums by day: of each endpoint, and of each key with each model. */
export class UsageRecords {
  readonly #insertEvent;
  readonly #addToDay;
  readonly #addToKey;

  constructor(
    database: Database.Database,
    private readonly clock: WallClock,
  ) {
    this.#insertEvent = database.prepare<
      [number, string, string, string, string, number, number, number, number, string, string, string | null]
    >(
      `INSERT INTO usage_events
         (hold_id, account_id, key_id, request_id, endpoint, audio_ms, minutes, credits, created_at,
           transcription_id, language, model)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#addToDay = database.prepare<[string, number, string, number, number]>(
      `INSERT INTO usage_days (account_id, day, endpoint, requests, minutes, credits) VALUES (?, ?, ?, 1, ?, ?)
       ON CONFLICT (account_id, day, endpoint) DO UPDATE SET requests = requests + 1,
         minutes = minutes + excluded.minutes, credits = credits + excluded.credits`,
    );
    this.#addToKey = database.prepare<[string, number, string, string, number, number]>(
      `INSERT INTO usage_keys (account_id, day, key_id, model, requests, minutes, credits) VALUES (?, ?, ?, ?, 1, ?, ?)
       ON CONFLICT (account_id, day, key_id, model) DO UPDATE SET requests = requests + 1,
         minutes = minutes + excluded.minutes, credits = credits + excluded.credits`,
    );
  }

  /** The one usage row of a settled hold. Callers hold the write transaction. */
  record(hold: HoldRow, settlement: Settlement): void {
    const { endpoint, credits } = settlement;
    const now = this.clock();
    const { minutes, audioMs } = checkUsage(settlement);
    this.#insertEvent.run(
      hold.id,
      hold.account_id,
      hold.key_id,
      settlement.requestId,
      endpoint,
      audioMs,
      minutes,
      credits,
      now,
      settlement.transcriptionId,
      settlement.language,
      settlement.model,
    );
    this.#addToDay.run(hold.account_id, utcDay(now), endpoint, minutes, credits);
    this.#addToKey.run(hold.account_id, utcDay(now), hold.key_id, settlement.model ?? '', minutes, credits);
  }
}
