/** The session of a translation, as OpenAI's clients send it and read it. */
import { Type } from 'typebox';
import { normalizeLanguage } from '../../engine/languages.js';
import { VerbatimError } from '../../errors.js';
import { DEFAULT_SETTINGS, type LiveSettings } from '../../live/options.js';
import { invalid } from '../schema/shape.js';
import { checked, nullable, type SessionIdentity } from './session-schema.js';

const Language = Type.String({ maxLength: 35 });
const ModelName = Type.String({ minLength: 1, maxLength: 200 });

const Update = Type.Object({
  type: Type.Optional(Type.String()),
  model: Type.Optional(nullable(ModelName)),
  audio: Type.Optional(
    Type.Object({
      input: Type.Optional(
        Type.Object({
          transcription: Type.Optional(
            nullable(
              Type.Object({
                model: Type.Optional(nullable(ModelName)),
                language: Type.Optional(nullable(Language)),
              }),
            ),
          ),
        }),
      ),
      output: Type.Optional(Type.Object({ language: Type.Optional(Language) })),
    }),
  ),
});

/** What a client has set. */
export interface TranslationSettings {
  /** As the client names it; null: the default model. */
  model: string | null;
  /** ISO 639-1: of the translation; null: it is chosen when the session begins. */
  language: string | null;
  /** Whether the client gets the spoken text, too, and what it said about it; null: it does not. */
  transcription: { model: string | null; language: string | null } | null;
}

export const OUTPUT_LANGUAGE = 'session.audio.output.language';
const SPOKEN_LANGUAGE = 'session.audio.input.transcription.language';

/** Of a session that is to be made. Throws `invalid_request` naming the member, or the errors of a language. */
export function newTranslation(session: unknown): TranslationSettings {
  const { model } = checked(Update, session, 'session');
  return updatedTranslation({ model: model ?? null, language: null, transcription: null }, session);
}

/** The settings after a `session.update`; what is absent stays. Throws as newTranslation() does. */
export function updatedTranslation(before: TranslationSettings, session: unknown): TranslationSettings {
  const { type, model, audio } = checked(Update, session, 'session');
  if (type !== undefined && type !== 'translation') {
    throw invalid('session.type', 'session.type must be translation: other sessions are opened at /v1/realtime.');
  }
  if (model !== undefined && model !== before.model) {
    throw invalid('session.model', 'session.model cannot change; open another session.');
  }
  const { transcription } = audio?.input ?? {};
  const language = audio?.output?.language;
  return {
    ...before,
    ...(language === undefined ? {} : { language: target(language) }),
    ...(transcription === undefined ? {} : { transcription: transcriptionOf(transcription) }),
  };
}

type GivenTranscription = { model?: string | null | undefined; language?: string | null | undefined } | null;

function transcriptionOf(given: GivenTranscription): TranslationSettings['transcription'] {
  if (given === null) return null;
  const { model = null, language = null } = given;
  if (language === null || language === '') return { model, language: null };
  const code = normalizeLanguage(language);
  if (code !== null) return { model, language: code };
  const message = `"${language}" is not an ISO 639 language code that the service knows.`;
  throw new VerbatimError('unsupported_language', message, { param: SPOKEN_LANGUAGE });
}

/** A language that nobody knows is refused like one that no model knows, which names those that there are. */
function target(language: string): string {
  return normalizeLanguage(language) ?? language;
}

/** As live sessions have them. */
export function translationLiveSettings(settings: TranslationSettings & { language: string }): LiveSettings {
  const { language: translateTo, transcription } = settings;
  return { ...DEFAULT_SETTINGS, language: transcription?.language ?? null, translateTo };
}

/** As `session.created` and `session.updated` show it. */
export function translationBody(settings: TranslationSettings, { id, expiresAt, model }: SessionIdentity): object {
  const { language, transcription } = settings;
  const spoken = transcription?.language ?? null;
  return {
    ...{ id, type: 'translation', object: 'realtime.translation_session', model, expires_at: expiresAt },
    audio: {
      input: {
        transcription:
          transcription === null
            ? null
            : { model: transcription.model ?? model, ...(spoken === null ? {} : { language: spoken }) },
        noise_reduction: null,
      },
      output: { language },
    },
  };
}
