/** The shipped server, started as a process: once as it comes and three times with variables set. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { register } from '../../../src/models/import.js';
import { packageRoot } from '../../../src/package-root.js';
import { type Variable } from '../../../src/service/variables.js';
import { MODEL } from '../../native/support.js';
import { Served, workplace } from '../../support/served.js';
import { writeVoiceModel } from '../../support/voice-models.js';
import { freePort } from '../../../bench/processes/free-port.js';

export const TOKEN = 'a token for Prometheus';
export const FEW_CONNECTIONS = 6;
export const SEGMENTATION = 'speaker-segmentation-verbatim';
export const EMBEDDING = 'speaker-embedding-verbatim';

export interface Servers {
  /** As it comes: nothing is set but a free port. */
  plain: Served;
  /** Everything is set that goes together. */
  set: Served;
  /** Decodes windows together. */
  batched: Served;
  /** Behind a proxy on this machine, with its data elsewhere and little room for a backlog. */
  proxied: Served;
}

/** For each variable, what shows its effect. */
export type SettingRows = Partial<Record<Variable, (servers: Servers) => void | Promise<void>>>;

/** A models directory that knows the bundled model under another name. */
export function modelsUnder(directory: string): string {
  const modelsDir = deafModelsUnder(directory);
  symlinkSync(MODEL, join(modelsDir, 'ggml-mine.bin'));
  register(modelsDir, {
    ...{ name: 'mine', kind: 'speech', file: 'ggml-mine.bin', languages: ['en', 'de'], windows: 'short' },
    ...{ licence: 'MIT', source: 'test' },
  });
  return modelsDir;
}

/** One in which the model of voice activity detects nothing in anything. */
export function deafModelsUnder(directory: string): string {
  const modelsDir = join(directory, 'models');
  mkdirSync(modelsDir);
  writeVoiceModel(join(modelsDir, 'ggml-silero-vad.bin'), 'nothing');
  const entry = { name: 'silero-vad', kind: 'vad', file: 'ggml-silero-vad.bin' } as const;
  register(modelsDir, { ...entry, licence: 'MIT', source: 'test' });
  return modelsDir;
}

/** One that knows the bundled speaker models under other names. */
function voicesUnder(directory: string): string {
  const modelsDir = join(directory, 'models');
  mkdirSync(modelsDir);
  const link = (name: string, bundled: string): { name: string; file: string } => {
    symlinkSync(join(packageRoot, 'models', 'bundled', `${bundled}.onnx`), join(modelsDir, `${name}.onnx`));
    return { name, file: `${name}.onnx` };
  };
  const origin = { licence: 'CC0-1.0', source: 'test' };
  register(modelsDir, { ...link('segments', SEGMENTATION), ...origin, kind: 'speaker-segmentation' });
  register(modelsDir, {
    ...link('voices', EMBEDDING),
    ...origin,
    ...{ kind: 'speaker-embedding', languages: 'any', threshold: 0.5, minSeconds: 2 },
  });
  return modelsDir;
}

/** The machine's own, which leaves word that it was this one that was run. */
function noticedFfmpeg(directory: string): string {
  const path = join(directory, 'my-ffmpeg');
  writeFileSync(path, '#!/bin/sh\necho run >> "$0.runs"\nexec ffmpeg "$@"\n', { mode: 0o755 });
  return path;
}

export async function startServers(): Promise<Servers> {
  const directory = workplace();
  const set = Served.start(
    {
      VERBATIM_PORT: String(await freePort()),
      VERBATIM_DATABASE: join(directory, 'ledger.db'),
      VERBATIM_MODELS_DIR: modelsUnder(directory),
      VERBATIM_MODEL: 'mine',
      VERBATIM_MODEL_MEMORY: '64M',
      VERBATIM_DEVICE: 'cpu',
      VERBATIM_SLOTS: '3',
      VERBATIM_THREADS: '2',
      VERBATIM_ACCEL: 'off',
      VERBATIM_SPEECH_DECODER: 'whisper.cpp',
      VERBATIM_VAD: 'energy',
      VERBATIM_FFMPEG: noticedFfmpeg(directory),
      VERBATIM_MAX_AUDIO_SECONDS: '8',
      VERBATIM_MAX_IN_FLIGHT: '1',
      VERBATIM_MAX_CONNECTIONS_PER_ADDRESS: String(FEW_CONNECTIONS),
      VERBATIM_MAX_LIVE_SESSIONS: '1',
      VERBATIM_MAX_LIVE_SECONDS: '2',
      VERBATIM_MAX_LIVE_DECODERS: '0',
      VERBATIM_CREDITS_PER_MINUTE: '7',
      VERBATIM_TRANSLATION_CREDITS_PER_MINUTE: '8',
      VERBATIM_DIARIZATION_CREDITS_PER_MINUTE: '9',
      VERBATIM_TRANSLATION_BACKEND: 'ggml',
      VERBATIM_DASHBOARD: 'off',
      VERBATIM_LOG_LEVEL: 'error',
      VERBATIM_SECRET: 'a secret of the environment',
      VERBATIM_METRICS_TOKEN: TOKEN,
    },
    directory,
  );
  const proxied = Served.start({
    VERBATIM_HOST: '127.0.0.2',
    VERBATIM_AGENT_PORT: '0',
    VERBATIM_DATA_DIR: 'elsewhere',
    VERBATIM_TRUST_PROXY: 'loopback',
    VERBATIM_CORS_ORIGINS: 'https://app.example.com',
    VERBATIM_SPEAKERS: 'off',
    VERBATIM_MAX_BACKLOG_SECONDS: '1',
    VERBATIM_MAX_CONNECTIONS_PER_ADDRESS: String(FEW_CONNECTIONS),
  });
  const elsewhere = workplace();
  const batched = Served.start(
    {
      VERBATIM_DEVICE: 'cpu',
      VERBATIM_MODELS_DIR: voicesUnder(elsewhere),
      VERBATIM_SPEAKER_SEGMENTATION: 'segments',
      VERBATIM_SPEAKER_EMBEDDING: 'voices',
      VERBATIM_SPEECH_DECODER: 'batched',
      VERBATIM_COMPUTE: 'bfloat16',
      VERBATIM_MAX_OPEN_JOBS: '1',
      VERBATIM_LIBRARY_MAX_BYTES: '0',
      VERBATIM_WEBHOOK_ALLOW: '127.0.0.0/8',
      VERBATIM_BATCH: '3',
      VERBATIM_SLOTS: '2',
    },
    elsewhere,
  );
  const plain = Served.start();
  return {
    plain: await plain.listening(),
    set: await set.listening(),
    batched: await batched.listening(),
    proxied: await proxied.listening(),
  };
}
