/** Whether a speech model that was just loaded can be put in service: it is asked what the bundled clip says. */
import { join } from 'node:path';
import type { SpeechEngine, Transcript } from '../engine/types.js';
import { packageRoot } from '../package-root.js';
import { ModelRefused } from '../errors.js';

/** Ships with the package; its words are the bundled model's to know. */
export const CHECK_CLIP = Object.freeze({
  path: join(packageRoot, 'models', 'bundled', 'sample-es.flac'),
  language: 'es',
  text: 'Hoy es domingo, dieciocho de mayo.',
});

/** Nobody's requests wait for it, and it waits for nobody's. */
const ACCOUNT = 'the check of a model';

export interface ModelToCheck {
  engine: Pick<SpeechEngine, 'info' | 'measure' | 'transcribe'>;
  /** Whether it is the one that the clip's text is known of. */
  knowsText: boolean;
}

/** Rejects with ModelRefused, or as SpeechEngine.transcribe(). */
export async function checkModel({ engine, knowsText }: ModelToCheck, signal: AbortSignal): Promise<void> {
  const { path, language, text } = CHECK_CLIP;
  const { languages, modelName } = engine.info;
  const spoken = languages.includes(language) ? language : (languages[0] ?? 'auto');
  const file = { path, signal, accountId: ACCOUNT };
  const transcript = await engine.transcribe({
    ...{ ...file, seconds: await engine.measure(file), language: spoken, describe: true },
    // It is in no account's way, and no account's audio in its.
    background: true,
  });
  const fault = faultOf(transcript);
  if (fault !== null) throw new ModelRefused(`"${modelName}" ${fault}.`);
  if (knowsText && words(transcript.text) !== words(text))
    throw new ModelRefused(`"${modelName}" recognised "${transcript.text}" where "${text}" is spoken.`);
}

/** Numbers that are none come as null from another process. */
function faultOf({ text, segments, unsureWindows, durationSeconds }: Transcript): string | null {
  if (!isNumber(durationSeconds)) return 'does not say how long a clip is';
  if (text.trim() === '' && unsureWindows === 0) return 'recognises nothing in a clip of speech';
  for (const { decoding, noSpeechProbability, startSeconds, endSeconds } of segments) {
    const { averageLogProbability, tokens = [] } = decoding ?? {};
    if (tokens.length === 0) return 'reports a text without its tokens';
    if (![averageLogProbability, noSpeechProbability, startSeconds, endSeconds].every(isNumber))
      return 'computes what are no numbers';
  }
  return null;
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

function words(text: string): string {
  return (text.toLowerCase().match(/\p{L}+/gu) ?? []).join(' ');
}
