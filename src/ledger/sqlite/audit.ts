import type Database from 'better-sqlite3';
import type { Violation } from '../types.js';

/** Each query selects one line of detail for every row that breaks the invariant; none when the ledger balances. */
export const INVARIANTS: Readonly<Record<string, string>> = {
  'purchased = remaining + spent + held + expired': `
    SELECT format('pack %d: %d purchased, %d remaining, %d spent, %d held, %d expired',
      id, purchased, remaining, spent, held, expired)
    FROM credit_packs WHERE purchased <> remaining + spent + held + expired`,

  'no amount is negative': `
    SELECT format('pack %d: %d remaining, %d spent, %d held, %d expired', id, remaining, spent, held, expired)
    FROM credit_packs WHERE min(remaining, spent, held, expired) < 0`,

  'what a pack holds and has spent is what its requests took': `
    WITH taken AS (
      SELECT part.pack_id,
        sum(iif(hold.settled_at IS NULL, part.credits, 0)) AS held,
        sum(iif(hold.settled_at IS NULL, 0, part.credits)) AS spent
      FROM hold_parts part JOIN holds hold ON hold.id = part.hold_id GROUP BY part.pack_id)
    SELECT format('pack %d: %d held and %d spent, but its requests took %d and %d',
      pack.id, pack.held, pack.spent, coalesce(taken.held, 0), coalesce(taken.spent, 0))
    FROM credit_packs pack LEFT JOIN taken ON taken.pack_id = pack.id
    WHERE pack.held <> coalesce(taken.held, 0) OR pack.spent <> coalesce(taken.spent, 0)`,

  'a hold is the sum of its parts, out of its own account': `
    SELECT format('hold %d: %d credits, parts of %d, %d of another account', hold.id, hold.credits,
      coalesce(sum(part.credits), 0), count(pack.id) FILTER (WHERE pack.account_id <> hold.account_id))
    FROM holds hold LEFT JOIN hold_parts part ON part.hold_id = hold.id
      LEFT JOIN credit_packs pack ON pack.id = part.pack_id
    GROUP BY hold.id
    HAVING hold.credits <> coalesce(sum(part.credits), 0)
      OR count(pack.id) FILTER (WHERE pack.account_id <> hold.account_id) > 0`,

  'every settled request has exactly one usage row': `
    SELECT format('hold %d: %d usage rows', hold.id, count(event.hold_id))
    FROM holds hold LEFT JOIN usage_events event ON event.hold_id = hold.id
    GROUP BY hold.id HAVING count(event.hold_id) <> iif(hold.settled_at IS NULL, 0, 1)`,

  'a usage row is what its settled hold says': `
    SELECT format('usage of hold %d: account %s, key %s, %d credits; the hold has %s, %s, %s', event.hold_id,
      event.account_id, event.key_id, event.credits,
      coalesce(hold.account_id, 'none'), coalesce(hold.key_id, 'none'), coalesce(hold.credits, 'none'))
    FROM usage_events event LEFT JOIN holds hold ON hold.id = event.hold_id
    WHERE hold.id IS NULL OR hold.account_id <> event.account_id OR hold.key_id <> event.key_id
      OR hold.credits <> event.credits`,

  'the days add up to the usage rows': `
    WITH days AS (
      SELECT account_id, created_at / 86400000 AS day, endpoint,
        count(*) AS requests, sum(minutes) AS minutes, sum(credits) AS credits
      FROM usage_events GROUP BY 1, 2, 3)
    SELECT format('%s, day %d, %s: %s requests, %s minutes, %s credits; its rows have %s, %s, %s',
      account_id, day, endpoint, kept.requests, kept.minutes, kept.credits,
      days.requests, days.minutes, days.credits)
    FROM usage_days kept FULL JOIN days USING (account_id, day, endpoint)
    WHERE (kept.requests, kept.minutes, kept.credits) IS NOT (days.requests, days.minutes, days.credits)`,

  'the days of the keys add up to the usage rows': `
    WITH days AS (
      SELECT account_id, created_at / 86400000 AS day, key_id, coalesce(model, '') AS model,
        count(*) AS requests, sum(minutes) AS minutes, sum(credits) AS credits
      FROM usage_events GROUP BY 1, 2, 3, 4)
    SELECT format('%s, day %d, %s, model "%s": %s requests, %s minutes, %s credits; its rows have %s, %s, %s',
      account_id, day, key_id, model, kept.requests, kept.minutes, kept.credits,
      days.requests, days.minutes, days.credits)
    FROM usage_keys kept FULL JOIN days USING (account_id, day, key_id, model)
    WHERE (kept.requests, kept.minutes, kept.credits) IS NOT (days.requests, days.minutes, days.credits)`,

  'every stored answer has its usage row': `
    SELECT format('idempotency record of hold %s, account %s', record.hold_id, record.account_id)
    FROM idempotency_records record LEFT JOIN usage_events event ON event.hold_id = record.hold_id
    WHERE record.hold_id IS NOT NULL AND (event.account_id IS NULL OR event.account_id <> record.account_id)`,

  'every job holds its credits until it ends, and is charged once if it succeeds': `
    SELECT format('job %s is %s; %d holds, %s', job.id, job.status, count(hold.id),
      coalesce('charged by ' || job.hold_id, 'not charged'))
    FROM jobs job LEFT JOIN holds hold ON hold.job_id = job.id
      LEFT JOIN usage_events event ON event.hold_id = job.hold_id
    GROUP BY job.id
    HAVING count(hold.id) <> iif(job.status IN ('queued', 'running'), 1, 0)
      OR (job.hold_id IS NOT NULL AND (event.account_id IS NULL OR event.account_id <> job.account_id))`,

  'every reference leads somewhere': `
    SELECT format('%s row %s refers to a missing row of %s', "table", rowid, parent)
    FROM pragma_foreign_key_check`,

  'the file is sound': `SELECT quick_check FROM pragma_quick_check WHERE quick_check <> 'ok'`,
};

/** Checks all invariants on one snapshot; a server may go on writing meanwhile. */
export function audit(database: Database.Database): Violation[] {
  const check = database.transaction(() =>
    Object.entries(INVARIANTS).flatMap(([invariant, sql]) =>
      database
        .prepare<[], string>(sql)
        .pluck()
        .all()
        .map((detail) => ({ invariant, detail })),
    ),
  );
  return check.deferred();
}
