/** The one place for response shapes: what API.md and the OpenAPI document describe, field by field, in order. */
import type { ErrorCode } from '../errors.js';
import type { ApiKey, Balance, CreatedKey, Identity, UsageReport } from '../ledger/types.js';
import type { TranscriptionResult } from '../transcription/result.js';

export interface ErrorBody {
  error: { code: ErrorCode; message: string; param: string | null; request_id: string };
}

export function errorBody(
  error: { code: ErrorCode; message: string; param: string | null },
  requestId: string,
): ErrorBody {
  const { code, message, param } = error;
  return { error: { code, message, param, request_id: requestId } };
}

export function meBody({ account, key }: Identity, { balance, lifetimePurchased }: Balance) {
  return {
    user: { id: account.id, email: account.email, name: account.name },
    key: { id: key.id, name: key.name, prefix: key.prefix },
    credits: { balance, lifetime_purchased: lifetimePurchased },
  };
}

export function usageBody(report: UsageReport) {
  return {
    window_days: report.windowDays,
    total_minutes: report.totalMinutes,
    total_credits: report.totalCredits,
    by_day: report.byDay,
    by_endpoint: report.byEndpoint,
  };
}

export function transcriptionBody(result: TranscriptionResult) {
  return {
    id: result.id,
    duration_sec: Math.round(result.durationSeconds * 1000) / 1000,
    language: result.language,
    text: result.text,
    ...(result.translation === null ? {} : { translation: result.translation }),
    ...(result.warnings.length === 0 ? {} : { warnings: result.warnings }),
    credits_used: result.creditsUsed,
    credits_remaining: result.creditsRemaining,
  };
}

export function createdKeyBody(key: CreatedKey) {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    raw_key: key.rawKey,
    created_at: key.createdAt,
  };
}

export function keyListBody(keys: readonly ApiKey[]) {
  return {
    keys: keys.map((key) => ({
      id: key.id,
      name: key.name,
      prefix: key.prefix,
      scopes: key.scopes,
      created_at: key.createdAt,
      last_used_at: key.lastUsedAt,
      revoked_at: key.revokedAt,
    })),
  };
}

export function revokedKeyBody({ id, revokedAt }: { id: string; revokedAt: string }) {
  return { id, revoked_at: revokedAt };
}

export interface Readiness {
  model: string;
  demonstration: boolean;
  device: { ids: readonly string[]; name: string };
  checks: Record<'model_loaded' | 'database_writable' | 'uploads_writable' | 'accepting_requests', boolean>;
}

export function readinessBody({ model, demonstration, device, checks }: Readiness) {
  const ready = Object.values(checks).every((passed) => passed);
  return {
    status: ready ? 'ready' : 'unavailable',
    model,
    demonstration,
    device: { ids: device.ids, name: device.name },
    checks,
  };
}
