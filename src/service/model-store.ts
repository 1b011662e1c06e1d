/** Downloads and imports models. Each imported model is loaded once by the addon before it is registered. */
import { join } from 'node:path';
import { loadBinding, type SpeechModelInfo } from '../engine/binding.js';
import { SpeakerEngine } from '../engine/speakers/speaker-engine.js';
import { importSpeechModel, importVoiceActivityModel, type ImportSpeechOptions } from '../models/import.js';
import { importSpeakerModel, type ImportSpeakersOptions, type SpeakerModelEntry } from '../models/import-speakers.js';
import { importTranslationModel, type ImportTranslationOptions } from '../models/import-translation.js';
import {
  findModel,
  type ModelEntry,
  type SpeechModelEntry,
  type TranslationModelEntry,
  type VoiceActivityModelEntry,
} from '../models/manifest.js';
import { pullModel } from '../models/pull.js';
import type { DownloadOptions } from '../models/download.js';
import { readManifest } from '../models/read-manifest.js';
import { isInstalled, modelPath, verifyModel, type StoreRoots } from '../models/store.js';
import { makeDirectory, SHARED } from '../make-directory.js';
import { packageRoot } from '../package-root.js';
import type { ServiceContext } from './context.js';
import { withFileLock } from './file-lock.js';
import { speakerModels } from './speaker-engine.js';

const HUB = 'https://huggingface.co';

/** The address of the model hub. Paths in the manifest are relative to it. */
export function hubEndpoint(env: NodeJS.ProcessEnv = process.env): string {
  return env['HF_ENDPOINT'] || HUB;
}

export type PullProgress = NonNullable<DownloadOptions['onProgress']>;

export interface PullCalls {
  onProgress: PullProgress;
  /** Called if another process downloads the model. This one waits until that has ended. */
  onWait?: () => void;
  signal?: AbortSignal;
}

/**
 * Downloads a model of the manifest. Resolves to whether anything was downloaded. If several processes share a models
 * directory, one downloads a model, and the others wait.
 */
export async function pull(
  name: string,
  { roots, manifest }: ServiceContext,
  { onProgress, onWait, signal }: PullCalls,
): Promise<boolean> {
  const entry = findModel(manifest, name);
  const options = {
    roots,
    endpoint: hubEndpoint(),
    token: process.env['HF_TOKEN'] ?? null,
    onProgress,
    ...(signal === undefined ? {} : { signal }),
    withModel,
  };
  // A complete model needs no lock file.
  if (entry.bundled === true || (await isWhole(roots, entry))) return pullModel(entry, options);
  makeDirectory(roots.modelsDir, SHARED);
  const work = (): Promise<boolean> => {
    // The process that had the lock may have registered a model that it unpacked.
    const { models } = readManifest(roots.packageRoot, roots.modelsDir);
    return pullModel(models.find((model) => model.name === name) ?? entry, options);
  };
  return withFileLock(join(roots.modelsDir, `${name}.lock`), work, {
    signal,
    ...(onWait === undefined ? {} : { onWait }),
  });
}

async function isWhole(roots: StoreRoots, entry: ModelEntry): Promise<boolean> {
  return isInstalled(roots, entry) && (await verifyModel(roots, entry)).every(({ ok }) => ok);
}

export type SpeechImport = Omit<ImportSpeechOptions, 'roots' | 'check'>;

export function importSpeech(
  path: string,
  options: SpeechImport,
  { roots }: ServiceContext,
): Promise<SpeechModelEntry> {
  return importSpeechModel(path, { ...options, roots, check: loadOnce });
}

export function importVoiceActivity(path: string, { roots }: ServiceContext): Promise<VoiceActivityModelEntry> {
  return importVoiceActivityModel(path, {
    roots,
    check: async (file) => (await loadBinding().loadVoiceActivityModel(file)).close(),
  });
}

export type SpeakerImport = Omit<ImportSpeakersOptions, 'roots' | 'check'>;

export function importSpeakers(
  path: string,
  options: SpeakerImport,
  { roots, manifest }: ServiceContext,
): Promise<SpeakerModelEntry> {
  const bundled = speakerModels({ speakerSegmentation: null, speakerEmbedding: null }, manifest);
  return importSpeakerModel(path, {
    ...options,
    roots,
    check: (file, kind) =>
      diarizeOnce({
        segmentation: kind === 'speaker-segmentation' ? file : modelPath(roots, bundled.segmentation),
        embedding: kind === 'speaker-embedding' ? file : modelPath(roots, bundled.embedding),
      }),
  });
}

/** Seconds, longer than the sample. */
const SAMPLE_LIMIT = 60;

/** Runs the models once on a sample of speech, in a separate process. */
async function diarizeOnce(files: { segmentation: string; embedding: string }): Promise<void> {
  const engine = new SpeakerEngine({ ...files, threads: 1, threshold: 0.5, minSeconds: 0 });
  try {
    const path = join(packageRoot, 'models', 'bundled', 'sample-es.flac');
    await engine.diarize({ path, durationSeconds: SAMPLE_LIMIT });
  } finally {
    await engine.close();
  }
}

export type TranslationImport = Omit<ImportTranslationOptions, 'roots' | 'withModel' | 'limits'>;

export function importTranslation(
  path: string,
  options: TranslationImport,
  { roots }: ServiceContext,
): Promise<TranslationModelEntry> {
  return importTranslationModel(path, { ...options, roots, withModel });
}

/**
 * Loads the model with whisper.cpp, which decodes every family. Also loads it with the batched decoder if that supports
 * the family.
 */
async function loadOnce(file: string): Promise<SpeechModelInfo> {
  const binding = loadBinding();
  const model = await binding.loadSpeechModel(file, { device: 'cpu' });
  const { info } = model;
  model.close();
  if (info.family === 'whisper') (await binding.loadRecogniser(file, { device: 'cpu' })).close();
  return info;
}

const withModel: ImportTranslationOptions['withModel'] = async (directory, look) => {
  const model = await loadBinding().loadTranslationModel(directory, { device: 'cpu' });
  try {
    look(model);
  } finally {
    model.close();
  }
};
