/** What an account asked for and what runs, out of jobs, holds and charges. */
import type { Activity, ActivityPage, ActivityPlace, ActivityQuery, ActivityState } from '../history.js';
import type { JobError } from '../jobs.js';
import { DAY_MS, toIso, utcDay } from '../time.js';
import { checkWindow } from './usage.js';

/** Charges, and jobs, that one filtered page looks through. */
export const MOST_SCANNED = 5_000;

export interface ActivityRow {
  /** null: there are no rows. */
  place: string | null;
  request_id: string;
  job_id: string | null;
  transcription_id: string | null;
  key_id: string;
  key_name: string;
  endpoint: string | null;
  file_name: string | null;
  model: string | null;
  language: string | null;
  audio_ms: number | null;
  state: ActivityState;
  /** JSON */
  error: string | null;
  credits: number;
  at: number;
  /** Nothing older was looked at; null: all was. */
  floor: number | null;
}

export interface ActivityValues {
  account: string;
  /** Milliseconds since 1970. */
  from: number;
  before: number;
  place: string;
  state: ActivityState | null;
  key: string | null;
  endpoint: string | null;
  /** One more than are shown. */
  limit: number;
}

/** Behind every place of the same time. */
const LAST_PLACE = '~';

/** Throws `invalid_request` for days that are no integer from 1 to 90. */
export function activityValues(accountId: string, query: ActivityQuery, now: number): ActivityValues {
  const { state, keyId, endpoint, days, limit, after } = query;
  if (days !== null) checkWindow(days);
  return {
    account: accountId,
    from: days === null ? 0 : (utcDay(now) - days + 1) * DAY_MS,
    before: after?.at ?? Number.MAX_SAFE_INTEGER,
    place: after?.place ?? LAST_PLACE,
    ...{ state, key: keyId, endpoint, limit: limit + 1 },
  };
}

/**
 * A job is `coalesce`d for SQLite: looking for those without one, it would go through all settled holds by that index.
 * `value`: how the database names each value; `byBytes`: how it orders a text by its bytes. None of the three lists
 * goes on beyond the floor, so that a filter which few rows pass reads no more than `MOST_SCANNED` of each. Without
 * entries there is one row, with the floor alone.
 */
export function activitySql(value: Readonly<Record<keyof ActivityValues, string>>, byBytes = ''): string {
  const { account, from, before, place, state, key, endpoint, limit } = value;
  const oldest = (table: string, id: string): string => `SELECT * FROM (
      SELECT created_at AS at FROM ${table} WHERE account_id = ${account}
        AND created_at >= ${from} AND created_at <= ${before}
      ORDER BY created_at DESC, ${id} DESC LIMIT 1 OFFSET ${MOST_SCANNED - 1}) ${table}_floor`;
  const newest = (row: string, id: string): string => `${row}.account_id = ${account}
        AND ${row}.created_at >= coalesce((SELECT floor FROM scanned), ${from}) AND ${row}.created_at <= ${before}
        AND (${row}.created_at < ${before} OR ${id} < ${place})
        AND (${key} IS NULL OR ${row}.key_id = ${key})`;
  const ofJob = `('j' || job.id)${byBytes}`;
  const ofHold = (id: string): string =>
    `('r' || substr('0000000000000000' || ${id}, length('' || ${id}) + 1))${byBytes}`;
  const end = (row: string, id: string): string => `ORDER BY ${row}.created_at DESC, ${id} DESC LIMIT ${limit}`;
  return `
    WITH scanned AS MATERIALIZED (SELECT max(at) AS floor FROM (
      ${oldest('usage_events', 'hold_id')} UNION ALL ${oldest('jobs', 'id')}) floors),
    found AS (
      SELECT * FROM (
        SELECT ${ofJob} AS place, job.request_id, job.id AS job_id, event.transcription_id, job.key_id,
          event.endpoint, job.file_name, event.model, event.language,
          CAST(round(job.audio_seconds * 1000) AS BIGINT) AS audio_ms,
          CASE job.status WHEN 'succeeded' THEN 'done' ELSE job.status END AS state, job.error,
          coalesce(event.credits, hold.credits, 0) AS credits, job.created_at AS at
        FROM jobs job LEFT JOIN usage_events event ON event.hold_id = job.hold_id
          LEFT JOIN holds hold ON hold.job_id = job.id
        WHERE ${newest('job', ofJob)} AND (${endpoint} IS NULL OR event.endpoint = ${endpoint})
          AND (${state} IS NULL OR job.status = CASE ${state} WHEN 'done' THEN 'succeeded' ELSE ${state} END)
        ${end('job', 'job.id')}) jobs_found
      UNION ALL SELECT * FROM (
        SELECT ${ofHold('hold.id')} AS place, hold.request_id, NULL, NULL, hold.key_id, NULL, hold.file_name, NULL,
          NULL, CAST(NULL AS BIGINT), 'running', NULL, hold.credits, hold.created_at
        FROM holds hold
        WHERE hold.settled_at IS NULL AND coalesce(hold.job_id, '') = '' AND ${newest('hold', ofHold('hold.id'))}
          AND ${endpoint} IS NULL AND (${state} IS NULL OR ${state} = 'running')
        ${end('hold', 'hold.id')}) running_found
      UNION ALL SELECT * FROM (
        SELECT ${ofHold('event.hold_id')} AS place, event.request_id, NULL, event.transcription_id, event.key_id,
          event.endpoint, hold.file_name, event.model, event.language, event.audio_ms, 'done', NULL, event.credits,
          event.created_at
        FROM usage_events event JOIN holds hold ON hold.id = event.hold_id
        WHERE ${newest('event', ofHold('event.hold_id'))} AND (${endpoint} IS NULL OR event.endpoint = ${endpoint})
          AND (${state} IS NULL OR ${state} = 'done')
          AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.hold_id = event.hold_id)
        ${end('event', 'event.hold_id')}) charged_found)
    SELECT found.*, api_keys.name AS key_name, scanned.floor
    FROM scanned LEFT JOIN found ON true LEFT JOIN api_keys ON api_keys.id = found.key_id
    ORDER BY found.at DESC, found.place DESC LIMIT ${limit}`;
}

export function toActivityPage(rows: readonly ActivityRow[], limit: number): ActivityPage {
  const shown = rows.filter(({ place }) => place !== null).slice(0, limit);
  return { entries: shown.map(toActivity), next: placeAfter(rows, shown.at(-1), limit) };
}

function placeAfter(rows: readonly ActivityRow[], last: ActivityRow | undefined, limit: number): ActivityPlace | null {
  if (rows.length > limit && last !== undefined) return { at: last.at, place: last.place ?? '' };
  const floor = rows[0]?.floor ?? null;
  return floor === null ? null : { at: floor, place: '' };
}

function toActivity(row: ActivityRow): Activity {
  const { endpoint, model, language, state, credits, audio_ms: audioMs } = row;
  return {
    ...{ requestId: row.request_id, jobId: row.job_id, transcriptionId: row.transcription_id },
    ...{ keyId: row.key_id, keyName: row.key_name, endpoint, fileName: row.file_name, model, language },
    ...{ audioSeconds: audioMs === null ? null : audioMs / 1000, state, credits, at: toIso(row.at) },
    error: row.error === null ? null : (JSON.parse(row.error) as JobError),
  };
}
