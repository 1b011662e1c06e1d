/** The engine of a configuration, on the real addon and the model that ships. */
import { loadEngine } from '../../src/service/speech-engine.js';
import { packageRoot } from '../../src/package-root.js';
import type { NativeBinding } from '../../src/engine/binding.js';
import { readConfig, type Config } from '../../src/service/config.js';
import type { LocalSpeechEngine } from '../../src/engine/speech/transcriber.js';
import type { EngineObserver, SpeechEngine, Transcript } from '../../src/engine/types.js';
import type { Manifest } from '../../src/models/manifest.js';
import { measureAndTranscribe } from './transcribe.js';
import { readManifest } from '../../src/models/read-manifest.js';

export interface RealEngineOptions {
  slots: number;
  /** Default: the service's. */
  decoder?: Config['speechDecoder'];
  observer?: EngineObserver;
  /** Without the trait that leaves out what the model is not sure of. */
  withoutFloor?: boolean;
}

export function loadRealEngine(options: RealEngineOptions): Promise<LocalSpeechEngine> {
  const env = {
    VERBATIM_DEVICE: 'cpu',
    VERBATIM_SLOTS: String(options.slots),
    VERBATIM_THREADS: '1',
    // The same text on every processor.
    VERBATIM_ACCEL: 'off',
    VERBATIM_SPEECH_DECODER: options.decoder ?? 'auto',
  };
  const config = readConfig(env, packageRoot);
  const roots = { packageRoot, modelsDir: config.modelsDir };
  const manifest = readManifest(packageRoot, config.modelsDir);
  return loadEngine(
    config,
    roots,
    options.withoutFloor === true ? floorless(manifest) : manifest,
    options.observer === undefined ? {} : { observer: options.observer },
  );
}

/** The engine of an environment; `binding`: default, the addon. */
export function loadConfigured(env: Record<string, string>, binding?: NativeBinding): Promise<LocalSpeechEngine> {
  const config = readConfig(env, packageRoot);
  const { modelsDir } = config;
  const parts = binding === undefined ? {} : { binding };
  return loadEngine(config, { packageRoot, modelsDir }, readManifest(packageRoot, modelsDir), parts);
}

function floorless(manifest: Manifest): Manifest {
  const models = structuredClone(manifest.models);
  for (const entry of models) if (entry.kind === 'speech') delete entry.minAverageLogProbability;
  return { ...manifest, models };
}

export interface RealRequest {
  accountId?: string;
  language?: string;
  signal?: AbortSignal;
}

export function transcribeWith(
  engine: SpeechEngine,
  path: string,
  { accountId = 'one', language = 'auto', signal }: RealRequest = {},
): Promise<Transcript> {
  return measureAndTranscribe(engine, { path, accountId, language, signal });
}
