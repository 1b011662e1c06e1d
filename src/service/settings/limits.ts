/** Settings: how much the service takes on, and how much an account may have. */
import type { SettingTable } from './setting.js';

export const LIMITS_SETTINGS = {
  VERBATIM_MAX_BACKLOG_SECONDS: {
    type: 'integer',
    default: 36_000,
    minimum: 1,
    maximum: 100_000_000,
    since: '0.1.0',
    about:
      'Seconds of audio that the service admits and has not yet transcribed. Further requests are answered 503 ' +
      '`overloaded` with `Retry-After`, those of accounts with more than their share of the backlog first. Jobs ' +
      'do not count.',
  },
  VERBATIM_MAX_AUDIO_SECONDS: {
    type: 'integer',
    default: 14_400,
    minimum: 1,
    maximum: 1_000_000,
    since: '0.1.0',
    about:
      'The longest file, in seconds of audio. A longer one is answered 413 `audio_too_long`. So is a file with ' +
      'more samples than stereo of that length has at 96 kHz.',
  },
  VERBATIM_MAX_IN_FLIGHT: {
    type: 'integer',
    default: 64,
    minimum: 1,
    maximum: 100_000,
    since: '0.1.0',
    about:
      'Requests of one account at a time, on all servers of the database together. One more is answered 429 ' +
      '`rate_limited` with `Retry-After`.',
  },
  VERBATIM_MAX_OPEN_JOBS: {
    type: 'integer',
    default: 100,
    minimum: 1,
    maximum: 100_000,
    since: '0.2.0',
    about:
      'Jobs of one account that have not ended. Together they keep at most this number times 100 MB of audio. ' +
      'Above either limit a new job is answered 429 `rate_limited`; see [Jobs](jobs.md).',
  },
  VERBATIM_MAX_LIVE_SESSIONS: {
    type: 'integer',
    default: 8,
    minimum: 1,
    maximum: 100_000,
    since: '0.2.0',
    about:
      'Live sessions of one account at a time. One more is answered 429 `rate_limited`. The machine has a limit ' +
      'of its own, which follows from its speed; see [Live](live.md).',
  },
  VERBATIM_MAX_LIVE_SECONDS: {
    type: 'integer',
    default: 14_400,
    minimum: 1,
    maximum: 1_000_000,
    since: '0.2.0',
    about: 'The longest live session, in seconds of audio. A session that reaches it is closed after its last text.',
  },
  VERBATIM_MAX_LIVE_DECODERS: {
    type: 'integer',
    default: 64,
    minimum: 0,
    maximum: 10_000,
    since: '0.2.0',
    about:
      'Live sessions at a time whose audio ffmpeg decodes: containers such as WebM, and Opus packets. One more is ' +
      'answered 503. Each takes some 10 MiB. Sessions that send samples do not count.',
  },
  VERBATIM_JOB_RETENTION_HOURS: {
    type: 'integer',
    default: 72,
    minimum: 1,
    maximum: 87_600,
    since: '0.2.0',
    about:
      'How long a job that has ended is kept, with its result. A job whose webhook is still being delivered is ' +
      'kept until the delivery has succeeded or was given up.',
  },
  VERBATIM_LIBRARY_MAX_BYTES: {
    type: 'size',
    default: '2G',
    minimum: '0',
    since: '0.2.0',
    about:
      'How much an account may keep, texts and recordings together; see [Kept transcripts](library.md). `0` keeps ' +
      'nothing. The default has room for some 30 hours of recordings as phones make them.',
  },
  VERBATIM_MAX_CONNECTIONS_PER_ADDRESS: {
    type: 'integer',
    default: 256,
    minimum: 1,
    maximum: 1_000_000,
    since: '0.2.0',
    about:
      'Connections of one address at a time; of IPv6, of one /64 network. One more is answered 429 and closed. ' +
      'Connections of a trusted proxy are not counted: its requests count for the addresses that it names.',
  },
} as const satisfies SettingTable;
