/** The rows of an account's history. */
import type { HistoryEntry, RunningRequest, UsageDay, UsageOfKey, UsageOfModel, UsageSums } from '../history.js';
import { dateOfDay, toIso } from '../time.js';

export interface ChargedRow {
  hold_id: number;
  request_id: string;
  key_id: string;
  transcription_id: string | null;
  endpoint: string;
  file_name: string | null;
  audio_ms: number;
  minutes: number;
  language: string | null;
  model: string | null;
  credits: number;
  created_at: number;
}

/** Of both databases. */
export const CHARGED = `
  SELECT event.hold_id, event.request_id, event.key_id, event.transcription_id, event.endpoint, event.audio_ms,
    event.minutes, event.language, event.model, event.credits, event.created_at, hold.file_name
  FROM usage_events event JOIN holds hold ON hold.id = event.hold_id`;

/** PostgreSQL's sums of integers are of another type. */
const SUMS = ['requests', 'minutes', 'credits'].map((of) => `CAST(sum(${of}) AS BIGINT) AS ${of}`).join(', ');

/** Of both databases: the condition comes between the two. */
export const USAGE_OF_KEYS = `
  SELECT used.key_id, (SELECT name FROM api_keys WHERE id = used.key_id) AS name, ${SUMS} FROM usage_keys used`;
export const USAGE_OF_KEYS_END = 'GROUP BY used.key_id ORDER BY credits DESC, minutes DESC, used.key_id';
export const USAGE_OF_MODELS = `SELECT model, ${SUMS} FROM usage_keys`;
export const USAGE_OF_MODELS_END = 'GROUP BY model ORDER BY credits DESC, minutes DESC, model';

export interface UsageOfKeyRow extends UsageSums {
  key_id: string;
  name: string;
}

export interface UsageOfModelRow extends UsageSums {
  model: string;
}

export function toUsageOfKey({ key_id: keyId, ...row }: UsageOfKeyRow): UsageOfKey {
  return { keyId, ...row };
}

export function toUsageOfModel({ model, ...row }: UsageOfModelRow): UsageOfModel {
  return { model: model === '' ? null : model, ...row };
}

export interface HistoryDayRow extends Omit<UsageDay, 'date'> {
  day: number;
}

export interface RunningRow {
  request_id: string;
  file_name: string | null;
  credits: number;
  created_at: number;
}

export function toUsageDay({ day, ...row }: HistoryDayRow): UsageDay {
  return { date: dateOfDay(day), ...row };
}

export function toEntry(row: ChargedRow): HistoryEntry {
  const { endpoint, language, model, credits } = row;
  return {
    id: String(row.hold_id),
    requestId: row.request_id,
    keyId: row.key_id,
    fileName: row.file_name,
    transcriptionId: row.transcription_id,
    ...{ endpoint, language, model, credits, minutes: row.minutes },
    audioSeconds: row.audio_ms / 1000,
    at: toIso(row.created_at),
  };
}

export function toRunning(row: RunningRow): RunningRequest {
  const { request_id: requestId, file_name: fileName, credits, created_at: at } = row;
  return { requestId, fileName, credits, at: toIso(at) };
}
