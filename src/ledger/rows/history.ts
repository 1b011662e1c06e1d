/** The rows of an account's history. */
import type { HistoryEntry, RunningRequest, UsageDay } from '../history.js';
import { dateOfDay, toIso } from '../time.js';

export interface ChargedRow {
  hold_id: number;
  request_id: string;
  key_id: string;
  transcription_id: string | null;
  endpoint: string;
  audio_ms: number;
  minutes: number;
  language: string | null;
  model: string | null;
  credits: number;
  created_at: number;
}

export interface HistoryDayRow extends Omit<UsageDay, 'date'> {
  day: number;
}

export interface RunningRow {
  request_id: string;
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
    transcriptionId: row.transcription_id,
    ...{ endpoint, language, model, credits, minutes: row.minutes },
    audioSeconds: row.audio_ms / 1000,
    at: toIso(row.created_at),
  };
}

export function toRunning({ request_id: requestId, credits, created_at: at }: RunningRow): RunningRequest {
  return { requestId, credits, at: toIso(at) };
}
