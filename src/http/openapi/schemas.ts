/** The shapes of requests and answers, as JSON Schema (OpenAPI 3.1). */
import { STATUS_BY_CODE } from '../../errors.js';
import { warningsOf } from '../../transcription/warnings.js';

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
const count = (description: string): Schema => ({ type: 'integer', minimum: 0, description, examples: [3] });
const id = (prefix: string, example: string): Schema => ({
  type: 'string',
  pattern: `^${prefix}_[A-Za-z0-9_-]+$`,
  examples: [`${prefix}_${example}`],
});
const keyId = id('key', 'x1ZtJ0m4k9Qe2Lw7');
const keyName: Schema = { type: 'string', minLength: 1, examples: ['laptop'] };
const requestId: Schema = {
  type: 'string',
  description: 'What `X-Request-Id` says, to be quoted in a report.',
  examples: ['req_4f1d7c2e-8a53-4b8e-9a0f-2f6d1c7b9e10'],
};
const seconds = (description: string): Schema => ({
  type: 'number',
  minimum: 0,
  description,
  examples: [0.91],
});
const boolean = (fallback: string, description: string): Schema => ({
  type: 'string',
  pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|1|0|[Yy][Ee][Ss]|[Nn][Oo]|[Oo][Nn]|[Oo][Ff][Ff])$',
  default: fallback,
  description: `${description} One of true, false, 1, 0, yes, no, on, off, in any case.`,
  examples: [fallback],
});
const check = (description: string): Schema => ({ type: 'boolean', description, examples: [true] });
const keyPrefix: Schema = {
  type: 'string',
  pattern: '^vb_[A-Za-z0-9_-]{8}$',
  description: "The raw key's first characters, to tell keys apart by.",
  examples: ['vb_3q2-7wAb'],
};
const language: Schema = { type: 'string', description: 'ISO 639-1 code.', examples: ['es'] };

const demonstrationMessage = warningsOf({ unsureWindows: 1 }, { modelName: 'verbatim-small' })[0]?.message;

export const schemas: Record<string, Schema> = {
  Error: object({
    error: object({
      code: {
        type: 'string',
        enum: Object.keys(STATUS_BY_CODE),
        description: 'Stable; made for programs. The message is for people and may change.',
        examples: ['invalid_request'],
      },
      message: { type: 'string', examples: ['days must be one integer from 1 to 90.'] },
      param: {
        type: ['string', 'null'],
        description: 'The field, query parameter or header at fault, if one is.',
        examples: ['days', null],
      },
      request_id: requestId,
    }),
  }),
  Me: object({
    user: object({
      id: id('acc', 'Zk3v9Q0c7TfYb1Rn'),
      email: { type: 'string', examples: ['ada@example.org'] },
      name: { type: ['string', 'null'], examples: ['Ada'] },
    }),
    key: object({ id: keyId, name: keyName, prefix: keyPrefix }),
    credits: object({
      balance: count('Spendable now: unexpired, and not held by requests that run.'),
      lifetime_purchased: count('All that was ever granted.'),
    }),
  }),
  Usage: object({
    window_days: { type: 'integer', minimum: 1, maximum: 90, examples: [30] },
    total_minutes: count('Started minutes, as billed.'),
    total_credits: count('Credits spent in the window.'),
    by_day: {
      type: 'array',
      description: 'Every UTC day of the window, oldest first, zeros included.',
      items: object({
        date: { type: 'string', format: 'date', examples: ['2026-11-20'] },
        minutes: count('Started minutes of the day.'),
      }),
    },
    by_endpoint: {
      type: 'array',
      description: 'Largest first.',
      items: object({
        endpoint: { type: 'string', examples: ['/api/v1/transcribe'] },
        minutes: count('Started minutes of the endpoint.'),
      }),
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
        examples: ['(the bytes of the file)'],
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
        description:
          'Language to translate the transcript into; the spoken language gives the transcript itself. A pair that no ' +
          'installed model covers, directly or through English, is refused before anything is transcribed when ' +
          '`language` is given, and before anything is charged when it is detected.',
        examples: ['en'],
      },
      punctuate: boolean('true', 'false: lower-case words without punctuation.'),
      diarize: boolean('false', 'true: adds words with times and speakers.'),
    },
  },
  Transcription: object(
    {
      id: id('tr', 'jWe1pcjYDMW83_ro3txM0A'),
      duration_sec: seconds('Of the decoded audio; its started minutes are billed.'),
      language,
      text: { type: 'string', examples: ['Hoy es domingo, dieciocho de mayo.'] },
      translation: {
        ...object({ language, text: { type: 'string', examples: ['Today is Sunday.'] } }),
        description: 'Present when translate_to was sent.',
      },
      words: {
        type: 'array',
        description: 'Present when diarize was true.',
        items: object({
          word: { type: 'string', examples: ['morning.'] },
          start: seconds('From the start of the audio.'),
          end: seconds('From the start of the audio.'),
          speaker: {
            type: 'string',
            pattern: '^S[1-9]\\d*$',
            description: 'Numbered in order of first speech.',
            examples: ['S1'],
          },
        }),
      },
      warnings: {
        type: 'array',
        minItems: 1,
        description: 'What to know of this answer; absent when there is nothing.',
        items: object({
          code: {
            type: 'string',
            enum: ['demonstration_model'],
            description:
              'demonstration_model: text was left out, since the bundled model knows synthetic voices and a phrase book ' +
              'only; the message says how to install a published one.',
            examples: ['demonstration_model'],
          },
          message: { type: 'string', examples: [demonstrationMessage] },
        }),
      },
      credits_used: count('Charged for this request.'),
      credits_remaining: count("The account's balance after it."),
    },
    ['translation', 'words', 'warnings'],
  ),
  CreateKeyRequest: object({
    name: {
      type: 'string',
      pattern: '\\S',
      description: '1 to 100 characters after trimming, no control characters.',
      examples: ['laptop'],
    },
  }),
  CreatedKey: object({
    id: keyId,
    name: keyName,
    prefix: keyPrefix,
    raw_key: {
      type: 'string',
      pattern: '^vb_[A-Za-z0-9_-]{43}$',
      description: 'Shown this once; the service keeps only an HMAC of it.',
      examples: ['vb_3q2-7wAbQm9vZ2llV29vZ2llLXRoaXNpc25vdGFrZXk'],
    },
    created_at: timestamp,
  }),
  KeyList: object({
    keys: {
      type: 'array',
      description: 'Every key of the account, revoked ones too, newest first.',
      items: object({
        id: keyId,
        name: keyName,
        prefix: keyPrefix,
        scopes: {
          type: 'array',
          description: '`keys:write` makes a management key.',
          items: { type: 'string', enum: ['keys:write'] },
          examples: [['keys:write']],
        },
        created_at: timestamp,
        last_used_at: timestampOrNull,
        revoked_at: timestampOrNull,
      }),
    },
  }),
  RevokedKey: object({ id: keyId, revoked_at: timestamp }),
  Health: object({ status: { type: 'string', const: 'ok', examples: ['ok'] } }),
  Readiness: object(
    {
      status: { type: 'string', enum: ['ready', 'unavailable'], examples: ['ready'] },
      model: { type: 'string', description: 'Name of the speech model.', examples: ['base'] },
      demonstration: {
        type: 'boolean',
        description:
          'The model only shows that the service works; install a published one for real recordings.',
        examples: [false],
      },
      device: object({
        ids: { type: 'array', items: { type: 'string' }, examples: [['cuda:0'], ['cpu']] },
        name: { type: 'string', examples: ['NVIDIA H200'] },
      }),
      checks: object({
        model_loaded: check('The speech model is in memory.'),
        database_writable: check('The ledger took a write.'),
        uploads_writable: check('A file could be written where uploads go.'),
        accepting_requests: check('The server is not draining.'),
      }),
      error: {
        ...object({
          code: { type: 'string', enum: ['shutting_down', 'overloaded'], examples: ['shutting_down'] },
          message: { type: 'string', examples: ['The server is shutting down.'] },
          param: { type: 'null', examples: [null] },
          request_id: requestId,
        }),
        description: 'With status 503: the error of the contract, beside the report.',
      },
    },
    ['error'],
  ),
};
