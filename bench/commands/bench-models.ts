/** Which model a benchmark is of: one of the manifest, or any file. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadBinding, type AttentionHead, type SpeechModelInfo, type WindowPolicy } from '../../src/engine/binding.js';
import type { SpeechDecoder } from '../../src/engine/speech/speech-models.js';
import { FAMILY_TRAITS } from '../../src/models/import.js';
import {
  alignmentHeads,
  findModel,
  kindText,
  windowPolicy,
  type Manifest,
  type SpeechModelEntry,
} from '../../src/models/manifest.js';
import { modelPath } from '../../src/models/store.js';
import type { Config } from '../../src/service/config.js';
import type { ServiceContext } from '../../src/service/context.js';
import { speechDecoder } from '../../src/service/speech-decoder.js';
import { UsageError } from '../../src/service/variables.js';
import type { VerbatimOptions } from '../processes/verbatim-process.js';

export type ModelFamily = SpeechModelInfo['family'];

export interface BenchModel {
  name: string;
  path: string;
  family: ModelFamily;
  policy: WindowPolicy;
  /** null: every language the weights know. */
  languages: string[] | null;
  /** What alone decodes it; absent: either decoder does. */
  onlyDecoder?: NonNullable<SpeechModelEntry['decoder']>;
  /** Those that words are aligned by; absent: the addon chooses. */
  alignmentHeads?: readonly AttentionHead[];
  /** Of a file that `serve` does not know by a name: what it would have to know. */
  traits?: Traits;
}

type Traits = NonNullable<VerbatimOptions['modelTraits']>;

/** The languages that a Parakeet file is taken to speak, for none of them is in it. */
const PARAKEET_LANGUAGES = 'parakeet-tdt-0.6b-v3';

/** One model: the named one, or the one that `serve` would take. */
export function modelNamed(context: ServiceContext, name: string | undefined): Promise<BenchModel> {
  const { config, manifest } = context;
  return modelOf(context, name ?? config.model ?? manifest.defaultSpeechModel);
}

/** By comma; else the one that `serve` would take. */
export async function modelsOf(context: ServiceContext, names: string | undefined): Promise<BenchModel[]> {
  if (names === undefined) return [await modelNamed(context, undefined)];
  const models: BenchModel[] = [];
  for (const name of names.split(',')) models.push(await modelOf(context, name));
  return models;
}

/** What makes `serve` take this model with these settings. */
export function serving(
  { name, path, traits }: BenchModel,
  { slots, threads, deviceSetting: device }: Pick<Config, 'slots' | 'threads' | 'deviceSetting'>,
): VerbatimOptions {
  const env = {
    VERBATIM_DEVICE: device,
    ...(slots === null ? {} : { VERBATIM_SLOTS: String(slots) }),
    VERBATIM_THREADS: String(threads),
  };
  if (traits === undefined) return { env: { ...env, VERBATIM_MODEL: name } };
  return { env, modelFile: path, modelTraits: traits };
}

/** Throws as speechDecoder() does. */
export function decoderOf(
  { name, onlyDecoder }: BenchModel,
  settings: Pick<Config, 'speechDecoder' | 'compute' | 'batch'>,
  devices: readonly string[],
): SpeechDecoder {
  const only = onlyDecoder === undefined ? {} : { decoder: onlyDecoder };
  return speechDecoder(settings, devices, { name, ...only });
}

/** Throws UsageError for a model that the command has no program of whisper.cpp to hold against. */
export function requireWhisper({ name, family }: BenchModel): void {
  if (family !== 'whisper') throw new UsageError(`--model is "${name}"; allowed: a Whisper model.`);
}

/** A name of the manifest, or the path of a model file, which is then taken as a published model of its family. */
async function modelOf({ roots, manifest }: ServiceContext, name: string): Promise<BenchModel> {
  if (existsSync(name)) return modelOfFile(manifest, name);
  const entry = findModel(manifest, name);
  if (entry.kind !== 'speech') throw new Error(`"${name}" is a ${kindText(entry)} model; a speech model is required.`);
  const path = modelPath(roots, entry);
  if (!existsSync(path)) {
    throw new Error(`The model "${name}" is not installed. Run: npx verbatim models pull ${name}`);
  }
  const heads = alignmentHeads(manifest, entry);
  return {
    ...{ name, path, family: await familyOf(path) },
    ...traitsOf(manifest, entry),
    ...(heads === undefined ? {} : { alignmentHeads: heads }),
  };
}

async function modelOfFile(manifest: Manifest, name: string): Promise<BenchModel> {
  const path = resolve(name);
  const family = await familyOf(path);
  const languages = family === 'parakeet' ? languagesOf(manifest, PARAKEET_LANGUAGES) : 'whisper';
  const traits = { ...FAMILY_TRAITS[family], languages };
  return { name, path, family, traits, ...traitsOf(manifest, { name, ...traits }) };
}

function traitsOf(
  manifest: Manifest,
  { name, languages, windows, decoder }: Traits & { name: string },
): Pick<BenchModel, 'policy' | 'languages' | 'onlyDecoder'> {
  return {
    policy: windowPolicy(manifest, { name, windows }),
    languages: languages === 'whisper' ? null : languages,
    ...(decoder === undefined ? {} : { onlyDecoder: decoder }),
  };
}

function languagesOf(manifest: Manifest, name: string): SpeechModelEntry['languages'] {
  const entry = findModel(manifest, name);
  if (entry.kind !== 'speech') throw new Error(`"${name}" is no speech model.`);
  return entry.languages;
}

/** Whisper's for a file that does not load: whoever is to decode it says why not. */
async function familyOf(path: string): Promise<ModelFamily> {
  try {
    const model = await loadBinding().loadSpeechModel(path, { device: 'cpu' });
    model.close();
    return model.info.family;
  } catch {
    return 'whisper';
  }
}
