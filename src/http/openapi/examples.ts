/** One consistent story in the answers of the document's endpoints; a test holds each against its schema. */
import { transcriptExamples } from './transcript-examples.js';
import { LISTEN_EXAMPLE } from '../deepgram/file-schema.js';
import { EXPIRES_AT, SESSION_EXAMPLE, TRANSLATION_EXAMPLE } from '../realtime/client-secrets-schema.js';
import { MANAGEMENT_SCOPE } from '../../ledger/scopes.js';
import { srtOf, vttOf } from '../../transcription/subtitles.js';
import { warningsOf } from '../../transcription/warnings.js';

type Examples = Record<string, { summary?: string; value: unknown }>;

const CREATED_AT = '2026-11-20T17:24:00.000Z';
const KEY = { id: 'key_x1ZtJ0m4k9Qe2Lw7', name: 'laptop', prefix: 'vb_3q2-7wAb' };
const OPENAI_MODEL = {
  ...{ id: 'base', object: 'model', created: 1_795_195_440, owned_by: 'verbatim' },
  ...{ loaded: true, languages: ['de', 'en', 'es'], detects_language: true, takes_prompt: true },
  ...{ takes_temperature: true, translates_to_english: true, demonstration: false },
};
const UNLOADED_MODEL = {
  ...{ id: 'small.en', object: 'model', created: 0, owned_by: 'verbatim' },
  ...{ loaded: false, languages: ['en'], detects_language: true, takes_prompt: true },
  ...{ takes_temperature: true, translates_to_english: false, demonstration: false },
};
const EPHEMERAL_KEY = 'ek_a2V5X3gxWnRKMG00azlRZTJMdzcgMTc5NTE5NTQ0MDAwMCA.cE3kQ1vZ9bXcYtW1aRe2Lw7';
const READY = {
  model: 'base',
  demonstration: false,
  device: { ids: ['cuda:0'], name: 'NVIDIA H200' },
  next_model: null,
};

const transcription = {
  id: 'tr_jWe1pcjYDMW83_ro3txM0A',
  duration_sec: 3.349,
  language: 'es',
  text: 'Hoy es domingo, dieciocho de mayo.',
};

const segments = [{ start: 0.24, end: 3.1, text: transcription.text }];
const words = [
  { word: 'Hoy', start: 0.24, end: 0.48, probability: 0.991 },
  { word: 'es', start: 0.48, end: 0.63, probability: 0.998 },
  { word: 'domingo,', start: 0.63, end: 1.29, probability: 0.987 },
  { word: 'dieciocho', start: 1.58, end: 2.31, probability: 0.975 },
  { word: 'de', start: 2.31, end: 2.45, probability: 0.999 },
  { word: 'mayo.', start: 2.45, end: 3.1, probability: 0.996 },
];
const subtitled = {
  segments: segments.map(({ start, end, text }) => ({ startSeconds: start, endSeconds: end, text })),
  language: transcription.language,
  durationSeconds: transcription.duration_sec,
};

const ACCEPTED = { id: 'job_mvC0kFvXqzT1wR8yN5dE2Q', status: 'queued', created_at: CREATED_AT };
const ended = {
  model: 'base',
  ...{ started_at: '2026-11-20T17:24:00.120Z', finished_at: '2026-11-20T17:24:01.480Z' },
  eta_seconds: null,
};
const succeededJob = {
  ...{ ...ACCEPTED, status: 'succeeded', progress: 1, ...ended },
  result: { ...transcription, credits_used: 1, credits_remaining: 499 },
};
const failedJob = {
  ...{ ...ACCEPTED, status: 'failed', progress: 0, ...ended },
  error: { code: 'invalid_audio', message: 'The audio has no samples.', param: 'audio' },
};

const adminAccount = {
  ...{ id: 'acc_Zk3v9Q0c7TfYb1Rn', email: 'ada@example.org', name: 'Ada', role: 'user', credits: 497 },
  ...{ created_at: CREATED_AT, suspended_at: null },
};

/** By content type. */
export const textExamples = {
  'text/plain': transcription.text,
  'application/x-subrip': srtOf(subtitled),
  'text/vtt': vttOf(subtitled),
};

export const examples: Record<string, Examples> = {
  ...transcriptExamples,
  Me: {
    me: {
      value: {
        user: { id: 'acc_Zk3v9Q0c7TfYb1Rn', email: 'ada@example.org', name: 'Ada' },
        key: KEY,
        credits: { balance: 497, lifetime_purchased: 500 },
      },
    },
  },
  Usage: {
    'three days': {
      value: {
        window_days: 3,
        total_minutes: 3,
        total_credits: 3,
        by_day: [
          { date: '2026-11-18', minutes: 2 },
          { date: '2026-11-19', minutes: 0 },
          { date: '2026-11-20', minutes: 1 },
        ],
        by_endpoint: [{ endpoint: '/api/v1/transcribe', minutes: 3 }],
      },
    },
  },
  TranscribeRequest: {
    'detect the language': { value: { audio: '(the bytes of the file)' } },
    'subtitles of a translation, with a name to expect': {
      value: {
        ...{ audio: '(the bytes of the file)', translate_to: 'en' },
        ...{ format: 'srt', prompt: 'Ada Lovelace' },
      },
    },
    'another model than the default': { value: { audio: '(the bytes of the file)', model: 'small.en' } },
    'translate, plain words': {
      value: { audio: '(the bytes of the file)', language: 'es', translate_to: 'en', punctuate: false },
    },
  },
  Transcription: {
    transcript: { value: { ...transcription, credits_used: 1, credits_remaining: 499 } },
    'nothing the bundled model is sure of': {
      value: {
        ...transcription,
        text: '',
        warnings: warningsOf({ text: '', unsureWindows: 1 }, { modelName: 'verbatim-small', isDemonstration: true }),
        credits_used: 0,
        credits_remaining: 500,
      },
    },
    'with times': {
      summary: 'timestamps=word',
      value: { ...transcription, segments, words, credits_used: 1, credits_remaining: 499 },
    },
    translated: {
      summary: 'translate_to=en',
      value: {
        ...transcription,
        translation: { language: 'en', text: 'Today is Sunday, the eighteenth of May.' },
        credits_used: 1,
        credits_remaining: 498,
      },
    },
  },
  CreateJobRequest: {
    'subtitles, posted when they are there': {
      value: {
        ...{ audio: '(the bytes of the file)', format: 'srt' },
        webhook_url: 'https://example.org/verbatim',
      },
    },
  },
  AcceptedJob: {
    accepted: { value: { ...ACCEPTED, webhook_secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' } },
  },
  Job: {
    running: {
      value: {
        ...{ ...ACCEPTED, status: 'running', progress: 0.42, eta_seconds: 37, model: null },
        ...{ started_at: '2026-11-20T17:24:00.120Z', finished_at: null },
      },
    },
    succeeded: { value: succeededJob },
    failed: { value: failedJob },
  },
  JobList: { 'one page of one': { value: { jobs: [failedJob], next_cursor: null } } },
  JobEvent: {
    succeeded: {
      value: { type: 'job.succeeded', timestamp: succeededJob.finished_at, data: succeededJob },
    },
  },
  OpenAiTranscription: {
    json: { value: { text: transcription.text, usage: { type: 'duration', seconds: 4 } } },
    verbose_json: {
      value: {
        ...{ task: 'transcribe', language: 'spanish', duration: 3.349, text: transcription.text },
        words: [{ word: 'Hoy', start: 0.24, end: 0.48 }],
        segments: [
          {
            ...{ id: 0, seek: 0, start: 0.24, end: 3.1, text: ` ${transcription.text}` },
            ...{ tokens: [50364, 28664, 785, 23435, 50464], temperature: 0, avg_logprob: -0.21 },
            ...{ compression_ratio: 0.81, no_speech_prob: 0.02 },
          },
        ],
        usage: { type: 'duration', seconds: 4 },
      },
    },
  },
  CreateTranscriptionRequest: {
    'words and segments': {
      value: {
        ...{ file: '(the bytes of the file)', model: 'whisper-1', response_format: 'verbose_json' },
        'timestamp_granularities[]': ['word', 'segment'],
      },
    },
  },
  CreateTranslationRequest: {
    subtitles: { value: { file: '(the bytes of the file)', model: 'whisper-1', response_format: 'srt' } },
  },
  OpenAiEvent: {
    delta: { value: { type: 'transcript.text.delta', delta: transcription.text } },
    done: {
      value: {
        type: 'transcript.text.done',
        text: transcription.text,
        usage: { type: 'duration', seconds: 4 },
        ...{ id: transcription.id, model: 'base', credits_used: 1, credits_remaining: 496 },
      },
    },
  },
  ClientSecretRequest: {
    German: {
      value: {
        expires_after: { anchor: 'created_at', seconds: 600 },
        session: { type: 'transcription', audio: { input: { transcription: { model: 'whisper-1', language: 'de' } } } },
      },
    },
  },
  ClientSecret: {
    German: { value: { value: EPHEMERAL_KEY, expires_at: EXPIRES_AT, session: SESSION_EXAMPLE } },
  },
  TranslationSecretRequest: {
    'into Spanish': { value: { session: { model: 'base', audio: { output: { language: 'es' } } } } },
  },
  TranslationSecret: {
    'into Spanish': { value: { value: EPHEMERAL_KEY, expires_at: EXPIRES_AT, session: TRANSLATION_EXAMPLE } },
  },
  TranscriptionSessionRequest: {
    German: { value: { input_audio_transcription: { model: 'whisper-1', language: 'de' } } },
  },
  BetaSession: {
    German: {
      value: {
        ...{ object: SESSION_EXAMPLE.object, id: SESSION_EXAMPLE.id, expires_at: EXPIRES_AT },
        input_audio_format: 'pcm16',
        input_audio_transcription: SESSION_EXAMPLE.audio.input.transcription,
        input_audio_noise_reduction: null,
        turn_detection: SESSION_EXAMPLE.audio.input.turn_detection,
        include: null,
        client_secret: { value: EPHEMERAL_KEY, expires_at: EXPIRES_AT },
      },
    },
  },
  ListenAnswer: { 'punctuate=true': { value: LISTEN_EXAMPLE } },
  TokenRequest: { 'half a minute': { value: { ttl_seconds: 30 } } },
  Token: { 'half a minute': { value: { access_token: EPHEMERAL_KEY, expires_in: 30 } } },
  OpenAiModel: { base: { value: OPENAI_MODEL } },
  OpenAiModelList: { 'two models': { value: { object: 'list', data: [OPENAI_MODEL, UNLOADED_MODEL] } } },
  CreateKeyRequest: { laptop: { value: { name: 'laptop' } } },
  CreatedKey: {
    laptop: {
      value: {
        ...KEY,
        raw_key: 'vb_3q2-7wAbQm9vZ2llV29vZ2llLXRoaXNpc25vdGFrZXk',
        created_at: CREATED_AT,
      },
    },
  },
  KeyList: {
    'two keys': {
      value: {
        keys: [
          { ...KEY, scopes: [], created_at: CREATED_AT, last_used_at: null, revoked_at: null },
          {
            id: 'key_a8Hq5nB2s6Ud0Yp3',
            name: 'admin',
            prefix: 'vb_Lx0_9dPq',
            scopes: [MANAGEMENT_SCOPE],
            created_at: '2026-11-02T09:00:00.000Z',
            last_used_at: CREATED_AT,
            revoked_at: null,
          },
        ],
      },
    },
  },
  RevokedKey: { revoked: { value: { id: KEY.id, revoked_at: '2026-11-21T08:30:00.000Z' } } },
  AdminAccount: { ada: { value: adminAccount } },
  AdminAccountList: { 'one page of one': { value: { accounts: [adminAccount], next_cursor: null } } },
  CreateAccountRequest: { ada: { value: { email: adminAccount.email, name: adminAccount.name } } },
  DeletedAccount: { deleted: { value: { id: adminAccount.id, deleted: true } } },
  GrantRequest: {
    'a payment': { value: { amount: 500, expires_at: '2027-12-31T00:00:00Z', payment_id: 'pi_3QkZ' } },
  },
  CreditGrant: {
    'a payment': {
      value: {
        ...{ id: '42', account_id: adminAccount.id, purchased: 500, remaining: 500 },
        ...{ created_at: CREATED_AT, expires_at: '2027-12-31T00:00:00.000Z', payment_id: 'pi_3QkZ' },
      },
    },
  },
  AdminUsage: {
    'one day of one account': {
      value: {
        ...{ from: '2026-11-20', to: '2026-11-20', next_cursor: null },
        usage: [
          {
            ...{ date: '2026-11-20', account_id: adminAccount.id, email: adminAccount.email },
            ...{ endpoint: '/api/v1/transcribe', requests: 2, minutes: 3, credits: 3 },
          },
        ],
      },
    },
  },
  Health: { up: { value: { status: 'ok' } } },
  Readiness: {
    ready: {
      value: {
        status: 'ready',
        ...READY,
        checks: {
          model_loaded: true,
          database_writable: true,
          uploads_writable: true,
          accepting_requests: true,
        },
      },
    },
  },
  Unreadiness: {
    draining: {
      value: {
        status: 'unavailable',
        ...READY,
        checks: {
          model_loaded: true,
          database_writable: true,
          uploads_writable: true,
          accepting_requests: false,
        },
        error: {
          code: 'shutting_down',
          message: 'The server is shutting down.',
          param: null,
          request_id: 'req_4f1d7c2e-8a53-4b8e-9a0f-2f6d1c7b9e10',
        },
      },
    },
  },
};
