/** Models that are brought in: each is loaded once by the addon before it counts as installed. */
import { loadBinding } from '../engine/binding.js';
import { importSpeechModel, importVoiceActivityModel, type ImportSpeechOptions } from '../models/import.js';
import { importTranslationModel, type ImportTranslationOptions } from '../models/import-translation.js';
import {
  findModel,
  type SpeechModelEntry,
  type TranslationModelEntry,
  type VoiceActivityModelEntry,
} from '../models/manifest.js';
import { pullModel } from '../models/pull.js';
import type { DownloadOptions } from '../models/download.js';
import type { ServiceContext } from './context.js';

const HUB = 'https://huggingface.co';

/** Downloads a model of the manifest, and resolves to whether there was anything to download. */
export function pull(
  name: string,
  { roots, manifest }: ServiceContext,
  onProgress: NonNullable<DownloadOptions['onProgress']>,
): Promise<boolean> {
  return pullModel(findModel(manifest, name), {
    roots,
    endpoint: process.env['HF_ENDPOINT'] || HUB,
    token: process.env['HF_TOKEN'] ?? null,
    onProgress,
    withModel,
  });
}

export type SpeechImport = Omit<ImportSpeechOptions, 'roots' | 'check'>;

export function importSpeech(
  path: string,
  options: SpeechImport,
  { roots }: ServiceContext,
): Promise<SpeechModelEntry> {
  return importSpeechModel(path, { ...options, roots, check: languagesOf });
}

export function importVoiceActivity(
  path: string,
  { roots }: ServiceContext,
): Promise<VoiceActivityModelEntry> {
  return importVoiceActivityModel(path, {
    roots,
    check: async (file) => (await loadBinding().loadVoiceActivityModel(file)).close(),
  });
}

export type TranslationImport = Omit<ImportTranslationOptions, 'roots' | 'withModel' | 'limits'>;

export function importTranslation(
  path: string,
  options: TranslationImport,
  { roots }: ServiceContext,
): Promise<TranslationModelEntry> {
  return importTranslationModel(path, { ...options, roots, withModel });
}

async function languagesOf(file: string): Promise<string[]> {
  const model = await loadBinding().loadRecogniser(file, { device: 'cpu' });
  const { languages } = model.info;
  model.close();
  return languages;
}

const withModel: ImportTranslationOptions['withModel'] = async (directory, look) => {
  const model = await loadBinding().loadTranslationModel(directory, { device: 'cpu' });
  try {
    look(model);
  } finally {
    model.close();
  }
};
