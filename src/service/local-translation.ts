/** Translations on this machine without a server: what `verbatim translate` does, above the tokenizer and below it. */
import { loadBinding, type TranslationHypothesis, type TranslationInput } from '../engine/binding.js';
import type { TranslationModelOptions, TranslationOptions } from '../engine/binding.js';
import { resolveDevices } from '../engine/devices.js';
import { ofModel } from '../engine/native-errors.js';
import type { ServiceContext } from './context.js';
import { createTranslationEngine } from './translation-engine.js';

export interface LocalTranslation {
  text: string;
  /** Names of the models that it went through; none where both languages are one. */
  models: string[];
}

export async function translateLocally(
  { text, from, to }: { text: string; from: string; to: string },
  { config, roots, manifest }: ServiceContext,
): Promise<LocalTranslation> {
  if (from === to) return { text, models: [] };
  const engine = createTranslationEngine(config, roots, manifest);
  try {
    const translated = await engine.translate({ accountId: 'local', text, from, to });
    return { text: translated.text, models: engine.routeOf(from, to) };
  } finally {
    await engine.close();
  }
}

export interface TokenTranslation {
  /** A CTranslate2 directory. */
  directory: string;
  compute: NonNullable<TranslationModelOptions['computeType']>;
  /** Inputs decoded together; null: all of them. */
  batch: number | null;
  decoding: TranslationOptions;
}

/** A model alone, below its tokenizer. Per input its hypotheses, best first, in batches as they are done. */
export async function* translateTokens(
  inputs: readonly TranslationInput[],
  { directory, compute, batch, decoding }: TokenTranslation,
  { config }: ServiceContext,
): AsyncGenerator<TranslationHypothesis[][]> {
  const binding = loadBinding();
  const loading = binding.loadTranslationModel(directory, {
    device: resolveDevices(config.deviceSetting, binding)[0] ?? 'cpu',
    computeType: compute,
    backend: config.translationBackend,
  });
  const model = await loading.catch((error: unknown) => {
    throw ofModel(directory, error);
  });
  try {
    const translator = await model.createTranslator({ threads: config.threads });
    const size = batch ?? Math.max(1, inputs.length);
    for (let first = 0; first < inputs.length; first += size) {
      const together = inputs.slice(first, first + size);
      yield (await translator.translate(together, { ...decoding, maxBatchSize: size })).results;
    }
    translator.close();
  } finally {
    model.close();
  }
}
