/** What the endpoints of ephemeral keys take and answer. */
import { Type } from 'typebox';
import { shape } from '../schema/shape.js';

const TRANSCRIPTION = { model: 'whisper-1', language: 'de', prompt: '', keywords: [] };
const TURNS = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 };
export const EXPIRES_AT = 1_795_195_440;

export const SESSION_EXAMPLE = {
  ...{ type: 'transcription', object: 'realtime.transcription_session', id: 'sess_kQ3vZ9bXcYtW1aRe' },
  expires_at: EXPIRES_AT,
  audio: {
    input: {
      format: { type: 'audio/pcm', rate: 24_000 },
      ...{ transcription: TRANSCRIPTION, noise_reduction: null, turn_detection: TURNS },
    },
  },
  include: null,
};

export const TRANSLATION_EXAMPLE = {
  ...{ id: 'sess_kQ3vZ9bXcYtW1aRe', type: 'translation', object: 'realtime.translation_session' },
  ...{ model: 'base', expires_at: EXPIRES_AT },
  audio: { input: { transcription: { model: 'base' }, noise_reduction: null }, output: { language: 'es' } },
};

const seconds = { description: 'Default: 600.', examples: [600] };

const expiresAfter = Type.Object(
  {
    anchor: Type.Optional(Type.Unsafe<'created_at'>({ type: 'string', const: 'created_at', examples: ['created_at'] })),
    seconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 7200, ...seconds })),
  },
  { description: 'When the key expires.' },
);

const anySession = (description: string, example: object) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', description, examples: [example] });

const secretWith = (example: object) =>
  shape({
    value: Type.String({ pattern: '^ek_', description: 'The key. Shown this once.', examples: ['ek_a2V5X3gx.cE3kQ1'] }),
    expires_at: Type.Integer({ description: 'Seconds since 1970.', examples: [EXPIRES_AT] }),
    session: anySession('The session that a client gets with this key.', example),
  });

/** Members that are not listed are ignored. */
export const ClientSecretRequest = Type.Object({
  expires_after: Type.Optional(expiresAfter),
  session: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'As a `session.update` of a transcription session has it.',
      examples: [{ type: 'transcription', audio: { input: { transcription: { language: 'de' } } } }],
    }),
  ),
});

export const ClientSecret = secretWith(SESSION_EXAMPLE);

/** Members that are not listed are ignored. */
export const TranslationSecretRequest = Type.Object({
  expires_after: Type.Optional(expiresAfter),
  session: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'The speech model, and what a `session.update` of a translation session has.',
      examples: [{ model: 'base', audio: { output: { language: 'es' } } }],
    }),
  ),
});

export const TranslationSecret = secretWith(TRANSLATION_EXAMPLE);

/** Members that are not listed are ignored. */
export const TranscriptionSessionRequest = Type.Object({
  client_secret: Type.Optional(
    Type.Object({ expires_at: Type.Optional(expiresAfter) }, { description: 'When the key expires.' }),
  ),
  input_audio_format: Type.Optional(
    Type.Unsafe<'pcm16' | 'g711_ulaw' | 'g711_alaw'>({
      ...{ type: 'string', enum: ['pcm16', 'g711_ulaw', 'g711_alaw'], examples: ['pcm16'] },
    }),
  ),
  input_audio_transcription: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      ...{ type: ['object', 'null'], description: '`model`, `language` and `prompt`.' },
      examples: [{ model: 'whisper-1', language: 'de' }],
    }),
  ),
  turn_detection: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      ...{ type: ['object', 'null'], description: 'null: only a commit ends a turn.', examples: [TURNS] },
    }),
  ),
  include: Type.Optional(
    Type.Unsafe<string[] | null>({
      ...{ type: ['array', 'null'], items: { type: 'string' } },
      examples: [['item.input_audio_transcription.logprobs']],
    }),
  ),
});

export const BetaSession = Type.Object({
  object: Type.String({ examples: ['realtime.transcription_session'] }),
  id: Type.String({ pattern: '^sess_', examples: [SESSION_EXAMPLE.id] }),
  expires_at: Type.Integer({ description: 'Seconds since 1970.', examples: [EXPIRES_AT] }),
  input_audio_format: Type.String({ examples: ['pcm16'] }),
  input_audio_transcription: Type.Unsafe<object>({ type: 'object', examples: [TRANSCRIPTION] }),
  input_audio_noise_reduction: Type.Null({ description: 'None is done.', examples: [null] }),
  turn_detection: Type.Unsafe<object | null>({ type: ['object', 'null'], examples: [TURNS] }),
  include: Type.Unsafe<string[] | null>({ type: ['array', 'null'], items: { type: 'string' }, examples: [null] }),
  client_secret: shape({
    value: Type.String({ pattern: '^ek_', description: 'The key. Shown this once.', examples: ['ek_a2V5X3gx.cE3kQ1'] }),
    expires_at: Type.Integer({ description: 'Seconds since 1970.', examples: [EXPIRES_AT] }),
  }),
});
