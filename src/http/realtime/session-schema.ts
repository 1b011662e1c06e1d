/** The session of a transcription, as OpenAI's clients send it and read it, in both dialects. */
import { Type, type Static, type TSchema } from 'typebox';
import { Errors } from 'typebox/value';
import { VerbatimError } from '../../errors.js';
import { invalid, oneOf } from '../schema/shape.js';

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const ServerVad = Type.Object({
  type: Type.Literal('server_vad'),
  threshold: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 1 }))),
  prefix_padding_ms: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 5000 }))),
  silence_duration_ms: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 60_000 }))),
});

const SemanticVad = Type.Object({
  type: Type.Literal('semantic_vad'),
  eagerness: Type.Optional(nullable(oneOf(['low', 'medium', 'high', 'auto'], {}))),
});

/** How long text waits to be surer. */
const DELAYS = ['minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export type Delay = (typeof DELAYS)[number];

const Transcription = Type.Object({
  model: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 200 }))),
  language: Type.Optional(nullable(Type.String({ maxLength: 35 }))),
  prompt: Type.Optional(nullable(Type.String({ maxLength: 1000 }))),
  delay: Type.Optional(nullable(oneOf(DELAYS, {}))),
});

const AudioFormat = Type.Object({
  type: oneOf(['audio/pcm', 'audio/pcmu', 'audio/pcma'], {}),
  rate: Type.Optional(Type.Integer()),
});

const TurnDetection = Type.Object({ type: oneOf(['server_vad', 'semantic_vad'], {}) });

const Include = Type.Array(Type.String(), { maxItems: 16 });

const CurrentUpdate = Type.Object({
  type: Type.Optional(Type.String()),
  audio: Type.Optional(
    Type.Object({
      input: Type.Optional(
        Type.Object({
          format: Type.Optional(AudioFormat),
          transcription: Type.Optional(nullable(Transcription)),
          turn_detection: Type.Optional(nullable(TurnDetection)),
        }),
      ),
    }),
  ),
  include: Type.Optional(nullable(Include)),
});

const BetaUpdate = Type.Object({
  input_audio_format: Type.Optional(oneOf(['pcm16', 'g711_ulaw', 'g711_alaw'], {})),
  input_audio_transcription: Type.Optional(nullable(Transcription)),
  turn_detection: Type.Optional(nullable(TurnDetection)),
  include: Type.Optional(nullable(Include)),
});

export type Turns =
  | { type: 'server_vad'; threshold: number; prefix_padding_ms: number; silence_duration_ms: number }
  | { type: 'semantic_vad'; eagerness: 'low' | 'medium' | 'high' | 'auto' };

export const SAMPLE_FORMATS = ['audio/pcm', 'audio/pcmu', 'audio/pcma'] as const;
export type SampleFormat = (typeof SAMPLE_FORMATS)[number];

/** What a client has set. */
export interface RealtimeSettings {
  format: SampleFormat;
  /** As the client names it; null: the default model. */
  model: string | null;
  /** As the client wrote it; null: it is detected. */
  language: string | null;
  prompt: string | null;
  /** null: the client named none. */
  delay: Delay | null;
  /** null: only `input_audio_buffer.commit` ends a turn. */
  turns: Turns | null;
  includesLogprobs: boolean;
}

export const DEFAULT_TURN_DETECTION: Turns = {
  type: 'server_vad',
  threshold: 0.5,
  prefix_padding_ms: 300,
  silence_duration_ms: 500,
};

/** OpenAI's model of this name takes turns by commit alone. */
const MANUAL_MODEL = 'gpt-realtime-whisper';
export const MODEL_PARAM = 'session.audio.input.transcription.model';

/** Of a session that names this model. */
export function defaultSettings(model: string | null): RealtimeSettings {
  return {
    ...{ format: 'audio/pcm', model, language: null, prompt: null, delay: null, includesLogprobs: false },
    turns: model === MANUAL_MODEL ? null : DEFAULT_TURN_DETECTION,
  };
}

const LOGPROBS = 'item.input_audio_transcription.logprobs';
const BETA_FORMATS: Readonly<Record<string, SampleFormat>> = {
  pcm16: 'audio/pcm',
  g711_ulaw: 'audio/pcmu',
  g711_alaw: 'audio/pcma',
};
export const PCM_RATE = 24_000;

/** The settings after a `session.update`; what is absent stays. Throws `invalid_request` naming the member. */
export function updated(before: RealtimeSettings, session: unknown): RealtimeSettings {
  const update = checked(CurrentUpdate, session, 'session');
  if (update.type !== undefined && update.type !== 'transcription') {
    throw invalid('session.type', `session.type must be transcription: this server has no ${update.type} sessions.`);
  }
  const { format, transcription, turn_detection: turns } = update.audio?.input ?? {};
  if (format?.type === 'audio/pcm' && format.rate !== undefined && format.rate !== PCM_RATE) {
    throw invalid('session.audio.input.format.rate', `session.audio.input.format.rate must be ${PCM_RATE}.`);
  }
  const at = 'session.audio.input.turn_detection';
  return {
    ...before,
    ...(format === undefined ? {} : { format: format.type }),
    ...transcriptionOf(transcription, before),
    ...(turns === undefined ? {} : { turns: turnsOf(turns, at) }),
    ...includesOf(update.include),
  };
}

/** The same after a `transcription_session.update` of the beta dialect. */
export function betaUpdated(before: RealtimeSettings, session: unknown): RealtimeSettings {
  const update = checked(BetaUpdate, session, 'session');
  const { input_audio_format: format, input_audio_transcription: transcription, turn_detection: turns } = update;
  return {
    ...before,
    ...(format === undefined ? {} : { format: BETA_FORMATS[format] ?? before.format }),
    ...transcriptionOf(transcription, before),
    ...(turns === undefined ? {} : { turns: turnsOf(turns, 'session.turn_detection') }),
    ...includesOf(update.include),
  };
}

type Given = Static<typeof Transcription> | null | undefined;

function transcriptionOf(given: Given, before: RealtimeSettings): Partial<RealtimeSettings> {
  if (given === undefined) return {};
  if (given === null) return { language: null, prompt: null, delay: null };
  const { model = before.model, language = before.language, prompt = before.prompt, delay = before.delay } = given;
  return { model, language, prompt: prompt === '' ? null : prompt, delay };
}

function includesOf(include: string[] | null | undefined): Partial<RealtimeSettings> {
  return include === undefined ? {} : { includesLogprobs: include?.includes(LOGPROBS) === true };
}

function turnsOf(given: unknown, at: string): Turns | null {
  if (given === null) return null;
  if ((given as { type: string }).type === 'semantic_vad') {
    return { type: 'semantic_vad', eagerness: checked(SemanticVad, given, at).eagerness ?? 'auto' };
  }
  const { threshold, prefix_padding_ms, silence_duration_ms } = checked(ServerVad, given, at);
  return {
    type: 'server_vad',
    threshold: threshold ?? 0.5,
    prefix_padding_ms: prefix_padding_ms ?? 300,
    silence_duration_ms: silence_duration_ms ?? 500,
  };
}

/** The value in its shape. Throws `invalid_request` that names the member by its path. */
export function checked<T extends TSchema>(schema: T, value: unknown, at: string): Static<T> {
  const [error] = Errors(schema, value);
  if (error === undefined) return value as Static<T>;
  const path = `${at}${error.instancePath.replaceAll('/', '.')}`;
  throw new VerbatimError('invalid_request', `${path} ${error.message}.`, { param: path });
}

export interface SessionIdentity {
  id: string;
  /** Seconds since 1970. */
  expiresAt: number;
  /** The model that answers. */
  model: string;
}

/** As `session.created` and `session.updated` show it. */
export function sessionBody(settings: RealtimeSettings, { id, expiresAt, model }: SessionIdentity): object {
  const { format, turns } = settings;
  return {
    ...{ type: 'transcription', object: 'realtime.transcription_session', id, expires_at: expiresAt },
    audio: {
      input: {
        format: format === 'audio/pcm' ? { type: format, rate: PCM_RATE } : { type: format },
        transcription: transcriptionBody(settings, model),
        noise_reduction: null,
        turn_detection: turns,
      },
    },
    include: settings.includesLogprobs ? [LOGPROBS] : null,
  };
}

/** The same in the beta dialect. */
export function betaSessionBody(settings: RealtimeSettings, { id, expiresAt, model }: SessionIdentity): object {
  const [name] = Object.entries(BETA_FORMATS).find(([, format]) => format === settings.format) ?? [];
  return {
    ...{ object: 'realtime.transcription_session', id, expires_at: expiresAt },
    input_audio_format: name,
    input_audio_transcription: transcriptionBody(settings, model),
    input_audio_noise_reduction: null,
    turn_detection: settings.turns,
    include: settings.includesLogprobs ? [LOGPROBS] : null,
  };
}

/** `keywords` are not read yet, and are shown as none. */
function transcriptionBody({ language, prompt, delay }: RealtimeSettings, model: string): object {
  return { model, language, prompt: prompt ?? '', keywords: [], ...(delay === null ? {} : { delay }) };
}
