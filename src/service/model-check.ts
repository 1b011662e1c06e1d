/** Whether a speech model that was just loaded can be put in service: it has to transcribe the bundled clip. */
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
  /** Seconds of audio a second that it has to reach, for a model of whole windows; default: however slow it is. */
  leastSpeed?: number | undefined;
}

/** The cost of a window does not depend on how much speech is in it. */
export const WINDOW_SECONDS = 30;
/** Other work may take the processors for a moment: the fastest of so many counts. */
const SPEED_ATTEMPTS = 3;

/** Rejects with ModelRefused, or as SpeechEngine.transcribe(). */
export async function checkModel(
  { engine, knowsText, leastSpeed = 0 }: ModelToCheck,
  signal: AbortSignal,
): Promise<void> {
  const { modelName } = engine.info;
  const { text } = CHECK_CLIP;
  const transcript = await transcriptOfClip(engine, signal);
  const fault = faultOf(transcript);
  if (fault !== null) throw new ModelRefused(`"${modelName}" ${fault}.`);
  if (knowsText && words(transcript.text) !== words(text))
    throw new ModelRefused(`"${modelName}" recognised "${transcript.text}" where "${text}" is spoken.`);
  let speed = speedOf(transcript);
  for (let attempt = 2; speed < leastSpeed && attempt <= SPEED_ATTEMPTS; attempt++)
    speed = Math.max(speed, speedOf(await transcriptOfClip(engine, signal)));
  if (speed < leastSpeed)
    throw new ModelRefused(`"${modelName}" runs at ${speed.toFixed(1)} times real time here; wanted: ${leastSpeed}.`);
}

async function transcriptOfClip(engine: ModelToCheck['engine'], signal: AbortSignal): Promise<Transcript> {
  const { path, language } = CHECK_CLIP;
  const { languages } = engine.info;
  const spoken = languages.includes(language) ? language : (languages[0] ?? 'auto');
  const file = { path, signal, accountId: ACCOUNT };
  return engine.transcribe({
    ...{ ...file, seconds: await engine.measure(file), language: spoken, describe: true },
    // It is in no account's way, and no account's audio in its.
    background: true,
  });
}

function speedOf({ windows, timings }: Transcript): number {
  return (windows * WINDOW_SECONDS * 1000) / timings.inferenceMs;
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
