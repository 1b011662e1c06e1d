/** Checks whether a newly loaded speech model can serve: it must transcribe the bundled clip. */
import { join } from 'node:path';
import type { SpeechEngine, Transcript } from '../engine/types.js';
import { packageRoot } from '../package-root.js';
import { ModelRefused } from '../errors.js';

/** Ships with the package. Only the bundled model is expected to recognise its exact words. */
export const CHECK_CLIP = Object.freeze({
  path: join(packageRoot, 'models', 'bundled', 'sample-es.flac'),
  language: 'es',
  text: 'Hoy es domingo, dieciocho de mayo.',
});

/** The check has its own account, so that it takes no turn of another account. */
const ACCOUNT = 'the check of a model';

export interface ModelToCheck {
  engine: Pick<SpeechEngine, 'info' | 'measure' | 'transcribe'>;
  /** Whether the model is expected to recognise the clip's exact text. */
  knowsText: boolean;
  /** The least speed, in seconds of audio per second, for a model that decodes whole windows. Default: any speed. */
  leastSpeed?: number | undefined;
}

/** A window costs the same whether it is full of speech or not. */
export const WINDOW_SECONDS = 30;
/** Other work may use the processors for a moment, so the fastest of this many attempts counts. */
const SPEED_ATTEMPTS = 3;

/** Rejects with ModelRefused, or as SpeechEngine.transcribe() does. */
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
    throw new ModelRefused(`"${modelName}" runs at ${speed.toFixed(1)} times real time here; required: ${leastSpeed}.`);
}

async function transcriptOfClip(engine: ModelToCheck['engine'], signal: AbortSignal): Promise<Transcript> {
  const { path, language } = CHECK_CLIP;
  const { languages } = engine.info;
  const spoken = languages.includes(language) ? language : (languages[0] ?? 'auto');
  const file = { path, signal, accountId: ACCOUNT };
  return engine.transcribe({
    ...{ ...file, seconds: await engine.measure(file), language: spoken, describe: true },
    // Background work does not delay the audio of accounts.
    background: true,
  });
}

function speedOf({ windows, timings }: Transcript): number {
  return (windows * WINDOW_SECONDS * 1000) / timings.inferenceMs;
}

/** What is wrong with the transcript, or null. A number that is not finite arrives as null from another process. */
function faultOf({ text, segments, unsureWindows, durationSeconds }: Transcript): string | null {
  if (!isNumber(durationSeconds)) return 'does not report the length of a clip';
  if (text.trim() === '' && unsureWindows === 0) return 'recognises nothing in a clip of speech';
  for (const { decoding, noSpeechProbability, startSeconds, endSeconds } of segments) {
    const { averageLogProbability, tokens = [] } = decoding ?? {};
    if (tokens.length === 0) return 'reports a text without its tokens';
    if (![averageLogProbability, noSpeechProbability, startSeconds, endSeconds].every(isNumber))
      return 'reports values that are not numbers';
  }
  return null;
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

function words(text: string): string {
  return (text.toLowerCase().match(/\p{L}+/gu) ?? []).join(' ');
}
