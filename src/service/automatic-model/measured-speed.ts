/**
 * Measures how fast this machine transcribes with a published model. The model need not be installed: the cost does not
 * depend on the values of its weights.
 */
import { join } from 'node:path';
import { loadBinding } from '../../engine/binding.js';
import type { EngineObserver, SpeechEngine } from '../../engine/types.js';
import type { Candidate } from '../../models/automatic-model.js';
import type { SpeechModelEntry } from '../../models/manifest.js';
import type { ServiceContext } from '../context.js';
import { CHECK_CLIP, WINDOW_SECONDS } from '../model-check.js';
import { loadEngine } from '../speech-engine.js';

/** The weight type of all candidates. */
const WEIGHTS = 'q8_0';
/** The number of tokens of a window full of speech. */
const TEXT_TOKENS = 100;
/** The number of windows that are measured, after one for warming up. */
const MEASURED_WINDOWS = 3;

type Window = Parameters<EngineObserver['windowDone']>[0];

/**
 * Resolves to the seconds of audio per second on one stream, with the service's settings. A model file with random
 * weights is written to `directory`, which the caller removes. Rejects if the settings are wrong or the file cannot be
 * written.
 */
export async function measureSpeed(
  { model, shape, layers, measuredLayers }: Candidate,
  { config, roots, manifest }: ServiceContext,
  { directory, signal }: { directory: string; signal: AbortSignal },
): Promise<number> {
  const entry = entryOf(model);
  const options = { shape, weights: WEIGHTS, audioLayers: measuredLayers, textTokens: TEXT_TOKENS } as const;
  await loadBinding().writeRandomModel(join(directory, entry.file), options);
  const windows: Window[] = [];
  const engine = await loadEngine(
    { ...config, model, voiceActivity: 'energy', weightCache: 'off' },
    { ...roots, modelsDir: directory },
    { ...manifest, models: [entry] },
    { observer: { windowDone: (window) => windows.push(window) } },
  );
  try {
    while (windows.length <= MEASURED_WINDOWS) await transcribeClip(engine, signal);
  } finally {
    await engine.close();
  }
  const [, ...measured] = windows.map(
    ({ melMs, encodeMs, decodeMs }) => melMs + (encodeMs * layers) / measuredLayers + decodeMs,
  );
  return (WINDOW_SECONDS * 1000) / median(measured);
}

function entryOf(name: string): SpeechModelEntry {
  return {
    ...{ name, kind: 'speech', file: 'model.bin', licence: 'none', source: 'random weights' },
    ...{ languages: 'whisper', windows: 'full' },
  };
}

/** Transcribes one window. It costs as much as a full one. The random model writes its tokens in English. */
async function transcribeClip(engine: SpeechEngine, signal: AbortSignal): Promise<void> {
  const file = { path: CHECK_CLIP.path, signal, accountId: 'the measurement of this machine' };
  await engine.transcribe({ ...file, seconds: await engine.measure(file), language: 'en' });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
