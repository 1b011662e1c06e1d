/** The limits of the server: those of the configuration, and those that no variable sets. */
import { SCRYPT_COST } from '../ledger/access/password.js';
import type { Config } from './config.js';
import type { ServerSettings } from './server.js';

/** docs/settings.md lists them. */
export const FIXED_LIMITS = Object.freeze({
  maxFileBytes: 100_000_000,
  uploadIdleMs: 30_000,
  jsonTimeoutMs: 10_000,
  requestTimeoutMs: 4 * 3_600_000,
  headersTimeoutMs: 20_000,
  receiveTimeoutMs: 1_800_000,
  answerStallMs: 30_000,
  passwordCost: SCRYPT_COST,
});

export function serverSettings(config: Config): ServerSettings {
  return {
    ...FIXED_LIMITS,
    maxAudioSeconds: config.maxAudioSeconds,
    maxInFlight: config.maxInFlight,
    maxOpenJobs: config.maxOpenJobs,
    maxLiveSessions: config.maxLiveSessions,
    maxLiveSeconds: config.maxLiveSeconds,
    maxLiveDecoders: config.maxLiveDecoders,
    jobRetentionHours: config.jobRetentionHours,
    maxLibraryBytes: config.maxLibraryBytes,
    webhookAllow: config.webhookAllow,
    maxConnectionsPerAddress: config.maxConnectionsPerAddress,
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    dashboard: config.dashboard,
    creditsPerMinute: config.creditsPerMinute,
    translationCreditsPerMinute: config.translationCreditsPerMinute,
    diarizationCreditsPerMinute: config.diarizationCreditsPerMinute,
    metricsToken: config.metricsToken,
  };
}
