import type { Violation } from '../types.js';
import type { Querying } from './connections.js';

/** As sqlite/audit.ts; references and pages are the database's own to keep. */
export const POSTGRES_INVARIANTS: Readonly<Record<string, string>> = {
  'purchased = remaining + spent + held + expired': `
    SELECT format('pack %s: %s purchased, %s remaining, %s spent, %s held, %s expired',
      id, purchased, remaining, spent, held, expired) AS detail
    FROM credit_packs WHERE purchased <> remaining + spent + held + expired`,

  'no amount is negative': `
    SELECT format('pack %s: %s remaining, %s spent, %s held, %s expired', id, remaining, spent, held, expired) AS detail
    FROM credit_packs WHERE least(remaining, spent, held, expired) < 0`,

  'what a pack holds and has spent is what its requests took': `
    WITH taken AS (
      SELECT part.pack_id, coalesce(sum(part.credits) FILTER (WHERE hold.settled_at IS NULL), 0) AS held,
        coalesce(sum(part.credits) FILTER (WHERE hold.settled_at IS NOT NULL), 0) AS spent
      FROM hold_parts part JOIN holds hold ON hold.id = part.hold_id GROUP BY part.pack_id)
    SELECT format('pack %s: %s held and %s spent, but its requests took %s and %s',
      pack.id, pack.held, pack.spent, coalesce(taken.held, 0), coalesce(taken.spent, 0)) AS detail
    FROM credit_packs pack LEFT JOIN taken ON taken.pack_id = pack.id
    WHERE pack.held <> coalesce(taken.held, 0) OR pack.spent <> coalesce(taken.spent, 0)`,

  'a hold is the sum of its parts, out of its own account': `
    SELECT format('hold %s: %s credits, parts of %s, %s of another account', hold.id, hold.credits,
      coalesce(sum(part.credits), 0), count(pack.id) FILTER (WHERE pack.account_id <> hold.account_id)) AS detail
    FROM holds hold LEFT JOIN hold_parts part ON part.hold_id = hold.id
      LEFT JOIN credit_packs pack ON pack.id = part.pack_id
    GROUP BY hold.id
    HAVING hold.credits <> coalesce(sum(part.credits), 0)
      OR count(pack.id) FILTER (WHERE pack.account_id <> hold.account_id) > 0`,

  'every settled request has exactly one usage row': `
    SELECT format('hold %s: %s usage rows', hold.id, count(event.hold_id)) AS detail
    FROM holds hold LEFT JOIN usage_events event ON event.hold_id = hold.id
    GROUP BY hold.id HAVING count(event.hold_id) <> (hold.settled_at IS NOT NULL)::int`,

  'a usage row is what its settled hold says': `
    SELECT format('usage of hold %s: account %s, key %s, %s credits; the hold has %s, %s, %s', event.hold_id,
      event.account_id, event.key_id, event.credits,
      coalesce(hold.account_id, 'none'), coalesce(hold.key_id, 'none'), coalesce(hold.credits::text, 'none')) AS detail
    FROM usage_events event LEFT JOIN holds hold ON hold.id = event.hold_id
    WHERE hold.id IS NULL OR hold.account_id <> event.account_id OR hold.key_id <> event.key_id
      OR hold.credits <> event.credits`,

  'the days add up to the usage rows': `
    WITH days AS (
      SELECT account_id, created_at / 86400000 AS day, endpoint,
        count(*) AS requests, sum(minutes) AS minutes, sum(credits) AS credits
      FROM usage_events GROUP BY 1, 2, 3)
    SELECT format('%s, day %s, %s: %s requests, %s minutes, %s credits; its rows have %s, %s, %s',
      account_id, day, endpoint, kept.requests, kept.minutes, kept.credits,
      days.requests, days.minutes, days.credits) AS detail
    FROM usage_days kept FULL JOIN days USING (account_id, day, endpoint)
    WHERE kept.requests IS DISTINCT FROM days.requests OR kept.minutes IS DISTINCT FROM days.minutes
      OR kept.credits IS DISTINCT FROM days.credits`,

  'the days of the keys add up to the usage rows': `
    WITH days AS (
      SELECT account_id, created_at / 86400000 AS day, key_id, coalesce(model, '') AS model,
        count(*) AS requests, sum(minutes) AS minutes, sum(credits) AS credits
      FROM usage_events GROUP BY 1, 2, 3, 4)
    SELECT format('%s, day %s, %s, model "%s": %s requests, %s minutes, %s credits; its rows have %s, %s, %s',
      account_id, day, key_id, model, kept.requests, kept.minutes, kept.credits,
      days.requests, days.minutes, days.credits) AS detail
    FROM usage_keys kept FULL JOIN days USING (account_id, day, key_id, model)
    WHERE kept.requests IS DISTINCT FROM days.requests OR kept.minutes IS DISTINCT FROM days.minutes
      OR kept.credits IS DISTINCT FROM days.credits`,

  'every stored answer has its usage row': `
    SELECT format('idempotency record of hold %s, account %s', record.hold_id, record.account_id) AS detail
    FROM idempotency_records record LEFT JOIN usage_events event ON event.hold_id = record.hold_id
    WHERE record.hold_id IS NOT NULL AND (event.account_id IS NULL OR event.account_id <> record.account_id)`,

  'every job holds its credits until it ends, and is charged once if it succeeds': `
    SELECT format('job %s is %s; %s holds, %s', job.id, job.status, count(hold.id),
      coalesce('charged by ' || job.hold_id, 'not charged')) AS detail
    FROM jobs job LEFT JOIN holds hold ON hold.job_id = job.id
      LEFT JOIN usage_events event ON event.hold_id = job.hold_id
    GROUP BY job.id, event.account_id
    HAVING count(hold.id) <> (job.status IN ('queued', 'running'))::int
      OR (job.hold_id IS NOT NULL AND (event.account_id IS NULL OR event.account_id <> job.account_id))`,
};

/** All invariants; in one snapshot of the caller's. */
export async function auditPostgres(query: Querying): Promise<Violation[]> {
  const found: Violation[] = [];
  for (const [invariant, sql] of Object.entries(POSTGRES_INVARIANTS)) {
    const rows = await query<{ detail: string }>(sql);
    found.push(...rows.map(({ detail }) => ({ invariant, detail })));
  }
  return found;
}
