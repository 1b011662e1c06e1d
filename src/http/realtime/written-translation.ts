/** The session of a translation as an ephemeral key has it. */
import { VerbatimError } from '../../errors.js';
import type { TranslationSettings } from './translation-schema.js';

interface Written {
  translation: TranslationSettings;
}

export function writtenText(settings: TranslationSettings): string {
  return JSON.stringify({ translation: settings } satisfies Written);
}

/** `session`: what an ephemeral key has written into it. */
export function isTranslationSecret(session: string): boolean {
  return 'translation' in (JSON.parse(session) as object);
}

/** null: the key has no session in it. Throws `insufficient_scope` for another kind of session. */
export function writtenTranslation(session: string | null): TranslationSettings | null {
  if (session === null) return null;
  if (!isTranslationSecret(session)) throw ofAnotherKind('/v1/realtime');
  return (JSON.parse(session) as Written).translation;
}

export function ofAnotherKind(path: string): VerbatimError {
  return new VerbatimError('insufficient_scope', `This ephemeral key opens sessions of ${path} only.`);
}
