/** Whether the installed models can do what a translation session asks of them. */
import { VerbatimError } from '../../errors.js';
import type { LiveAbilities } from '../../live/abilities.js';
import { invalid } from '../schema/shape.js';
import { MODEL_PARAM } from './session-schema.js';
import { OUTPUT_LANGUAGE, translationLiveSettings, type TranslationSettings } from './translation-schema.js';

export type CompleteTranslation = TranslationSettings & { language: string };

export interface TranslationCheck {
  abilities: Pick<LiveAbilities, 'info' | 'targets' | 'check'>;
  /** The installed model that a name stands for; null: the default one. Throws `model_not_found`. */
  installed: (model: string | null) => string | null;
}

/** Of a session that names no language. */
const PREFERRED = 'en';

/**
 * The settings with a language. Throws `model_not_found`, `unsupported_language`, or `unsupported_translation` that
 * names the languages that there are.
 */
export function checkTranslation(
  settings: TranslationSettings,
  { abilities, installed }: TranslationCheck,
): CompleteTranslation {
  const { info, targets } = abilities;
  const named = installed(settings.transcription?.model ?? null);
  if (named !== null && named !== info.modelName) {
    throw invalid(MODEL_PARAM, `${MODEL_PARAM} must be the session's own model, ${info.modelName}.`);
  }
  const [first] = targets;
  const language = settings.language ?? (targets.includes(PREFERRED) ? PREFERRED : first) ?? PREFERRED;
  const complete = { ...settings, language };
  try {
    abilities.check(translationLiveSettings(complete));
  } catch (error) {
    if (!(error instanceof VerbatimError && error.param === 'translate_to')) throw error;
    throw new VerbatimError(error.code, error.message, { param: OUTPUT_LANGUAGE });
  }
  return complete;
}
