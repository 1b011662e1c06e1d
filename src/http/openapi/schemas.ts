/** The shapes of requests and answers, as JSON Schema (OpenAPI 3.1). */
import { STATUS_BY_CODE } from '../../errors.js';

type Schema = Record<string, unknown>;

const object = (properties: Record<string, Schema>, optional: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

const timestamp: Schema = {
  type: 'string',
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  description: 'ISO 8601, UTC, with milliseconds.',
  examples: ['2026-11-20T17:24:00.000Z'],
};

const timestampOrNull: Schema = { ...timestamp, type: ['string', 'null'] };
const count: Schema = { type: 'integer', minimum: 0 };
const keyPrefix: Schema = { type: 'string', pattern: '^vb_[A-Za-z0-9_-]{8}$', examples: ['vb_3q2-7wAb'] };
const language: Schema = { type: 'string', description: 'ISO 639-1 code.', examples: ['es'] };

export const schemas: Record<string, Schema> = {
  Error: object({
    error: object({
      code: {
        type: 'string',
        enum: Object.keys(STATUS_BY_CODE),
        description: 'Stable; made for programs. The message is for people and may change.',
      },
      message: { type: 'string' },
      param: { type: ['string', 'null'], description: 'The field or header at fault, if one is.' },
      request_id: { type: 'string' },
    }),
  }),
  Me: object({
    user: object({
      id: { type: 'string' },
      email: { type: 'string' },
      name: { type: ['string', 'null'] },
    }),
    key: object({ id: { type: 'string' }, name: { type: 'string' }, prefix: keyPrefix }),
    credits: object({
      balance: { ...count, description: 'Spendable now: unexpired, and not held by requests that run.' },
      lifetime_purchased: count,
    }),
  }),
  Usage: object({
    window_days: { type: 'integer', minimum: 1, maximum: 90 },
    total_minutes: count,
    total_credits: count,
    by_day: {
      type: 'array',
      description: 'Every UTC day of the window, oldest first, zeros included.',
      items: object({ date: { type: 'string', format: 'date' }, minutes: count }),
    },
    by_endpoint: {
      type: 'array',
      description: 'Largest first.',
      items: object({ endpoint: { type: 'string', examples: ['/api/v1/transcribe'] }, minutes: count }),
    },
  }),
  TranscribeRequest: {
    type: 'object',
    required: ['audio'],
    additionalProperties: false,
    properties: {
      audio: {
        type: 'string',
        contentMediaType: 'application/octet-stream',
        description:
          'One WAV, FLAC, MP3 or OGG (Vorbis, Opus, FLAC) file of at most 100,000,000 bytes. The format is decided by content.',
      },
      language: {
        ...language,
        description:
          'Spoken language: ISO 639-1, or 639-2/3 mapped to it, any case; a region is dropped. Detected when absent.',
        examples: ['es', 'spa', 'es-MX'],
      },
      translate_to: {
        ...language,
        description: 'Language to translate the transcript into.',
        examples: ['en'],
      },
      punctuate: {
        type: 'string',
        pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|1|0|[Yy][Ee][Ss]|[Nn][Oo]|[Oo][Nn]|[Oo][Ff][Ff])$',
        default: 'true',
        description: 'false: lower-case words without punctuation.',
      },
      diarize: {
        type: 'string',
        pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|1|0|[Yy][Ee][Ss]|[Nn][Oo]|[Oo][Nn]|[Oo][Ff][Ff])$',
        default: 'false',
        description: 'true: adds words with times and speakers.',
      },
    },
  },
  Transcription: object(
    {
      id: { type: 'string', pattern: '^tr_', examples: ['tr_Qm9vZ2llV29vZ2ll'] },
      duration_sec: { type: 'number', minimum: 0, examples: [3.349] },
      language,
      text: { type: 'string', examples: ['Hoy es domingo, dieciocho de mayo.'] },
      translation: {
        ...object({ language, text: { type: 'string' } }),
        description: 'Present when translate_to was sent.',
      },
      words: {
        type: 'array',
        description: 'Present when diarize was true.',
        items: object({
          word: { type: 'string' },
          start: { type: 'number', minimum: 0 },
          end: { type: 'number', minimum: 0 },
          speaker: { type: 'string', pattern: '^S[1-9]\\d*$' },
        }),
      },
      credits_used: count,
      credits_remaining: count,
    },
    ['translation', 'words'],
  ),
  CreateKeyRequest: object({
    name: { type: 'string', description: '1 to 100 characters after trimming.', examples: ['laptop'] },
  }),
  CreatedKey: object({
    id: { type: 'string' },
    name: { type: 'string' },
    prefix: keyPrefix,
    raw_key: { type: 'string', pattern: '^vb_[A-Za-z0-9_-]{43}$', description: 'Shown this once.' },
    created_at: timestamp,
  }),
  KeyList: object({
    keys: {
      type: 'array',
      description: 'Every key of the account, newest first.',
      items: object({
        id: { type: 'string' },
        name: { type: 'string' },
        prefix: keyPrefix,
        scopes: { type: 'array', items: { type: 'string', enum: ['keys:write'] } },
        created_at: timestamp,
        last_used_at: timestampOrNull,
        revoked_at: timestampOrNull,
      }),
    },
  }),
  RevokedKey: object({ id: { type: 'string' }, revoked_at: timestamp }),
  Health: object({ status: { type: 'string', const: 'ok' } }),
  Readiness: object(
    {
      status: { type: 'string', enum: ['ready', 'unavailable'] },
      model: { type: 'string' },
      device: object({ ids: { type: 'array', items: { type: 'string' } }, name: { type: 'string' } }),
      checks: object({
        model_loaded: { type: 'boolean' },
        database_writable: { type: 'boolean' },
        accepting_requests: { type: 'boolean' },
      }),
      error: {
        type: 'object',
        description: 'With status 503: the error of the contract, beside the report.',
        properties: {
          code: { type: 'string', enum: ['shutting_down', 'overloaded'] },
          message: { type: 'string' },
          param: { type: 'null' },
          request_id: { type: 'string' },
        },
        required: ['code', 'message', 'param', 'request_id'],
        additionalProperties: false,
      },
    },
    ['error'],
  ),
};
