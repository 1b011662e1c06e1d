/** models/manifest.json: the known models, their download addresses, and the properties that the engine needs. */
import { SetupError } from '../errors.js';
import type { AttentionHead, WindowPolicy } from '../engine/binding.js';
import { nearestNames } from './nearest-names.js';
import { ownCommand } from '../package-root.js';

export interface ModelFile {
  /** Relative to the models directory; for bundled models, to the package's own models directory. */
  file: string;
  /** In bytes; absent if not published. */
  size?: number;
  sha256?: string;
  /** whisper.cpp publishes SHA-1. */
  sha1?: string;
  /** A path on HF_ENDPOINT if it begins with '/', else a whole URL. */
  url?: string;
}

interface ModelEntryBase {
  name: string;
  licence: string;
  source: string;
  /** Ships with this package. */
  bundled?: boolean;
  /**
   * Only demonstrates that the service works: it knows a fixed set of phrases. Only such a model has
   * minAverageLogProbability.
   */
  demonstration?: boolean;
  /** Listed first by `models list`, which leaves out most other models. */
  recommended?: boolean;
}

export interface SpeechModelEntry extends ModelEntryBase, ModelFile {
  kind: 'speech';
  /** 'whisper': all languages of the weights. A list: for a file that names no languages. */
  languages: string[] | 'whisper';
  /** The only decoder that supports the model. Absent: both decoders do. */
  decoder?: 'whisper.cpp';
  /** The name of a window policy of the manifest. */
  windows: string;
  /** Whether it was trained for Whisper's translate task, from speech in any of its languages to English text. */
  translates?: boolean;
  /**
   * Text whose tokens have a lower mean natural log-probability (<= 0) is left out. Absent: all text is kept.
   * bench/RESULTS-decoder.md says how the bundled model's value was chosen.
   */
  minAverageLogProbability?: number;
  /**
   * The decoder's heads that align words: the name of a published set in the manifest, or measured heads. Absent: all
   * heads of the upper half of the layers.
   */
  alignmentHeads?: string | HeadPair[];
}

/** [layer, head], both counted from 0. */
export type HeadPair = [number, number];

/** A Silero model, in whisper.cpp's ggml format. */
export interface VoiceActivityModelEntry extends ModelEntryBase, ModelFile {
  kind: 'vad';
}

/**
 * Says which of a few people speak in each frame of a window. An ONNX file in the format of pyannote-segmentation-3.0.
 */
export interface SpeakerSegmentationModelEntry extends ModelEntryBase, ModelFile {
  kind: 'speaker-segmentation';
}

/** Describes whose voice it is. An ONNX file. Its properties were chosen on conversations that no evaluation uses. */
export interface SpeakerEmbeddingModelEntry extends ModelEntryBase, ModelFile {
  kind: 'speaker-embedding';
  /** Languages in which it distinguishes voices (ISO 639-1). */
  languages: string[] | 'any';
  /**
   * Between 0 and 10, both excluded. What a further voice must explain, in pieces of speech of two seconds. A higher
   * value gives fewer speakers.
   */
  threshold: number;
  /** A speaker with less speech than this is merged with another, unless all have less. */
  minSeconds: number;
}

/** The name of the only voice activity model that can be installed. */
export const VOICE_ACTIVITY_MODEL = 'silero-vad';

export interface TranslationModelEntry extends ModelEntryBase {
  kind: 'translation';
  /** The model's directory, relative like ModelFile.file. */
  directory: string;
  /** The model's files. An archive (.argosmodel, .zip) is unpacked into the directory. */
  files: ModelFile[];
  /** Source and target languages (ISO 639-1). Every source language is translated to every other target language. */
  from: string[];
  to: string[];
  /**
   * How the target language is given: a first source token ('>>{}<<') or a target prefix. Absent: the model has one
   * language pair.
   */
  targetToken?: { place: 'source' | 'prefix'; template: string };
  /** A template for a first source token with the source language, for models that need one (NLLB, M2M100). */
  sourceToken?: string;
  /** The model's language codes ('spa_Latn'), if they differ from those of the service. */
  codes?: Record<string, string>;
}

export type ModelEntry =
  | SpeechModelEntry
  | TranslationModelEntry
  | VoiceActivityModelEntry
  | SpeakerSegmentationModelEntry
  | SpeakerEmbeddingModelEntry;

export interface Manifest {
  defaultSpeechModel: string;
  defaultSpeakerSegmentation: string;
  defaultSpeakerEmbedding: string;
  windowPolicies: Record<string, WindowPolicy>;
  /** The sets that OpenAI published, by the name of its model. */
  alignmentHeads: Record<string, HeadPair[]>;
  models: ModelEntry[];
}

/** Throws a SetupError that names the nearest models. If `wanted` is given, names only models of that kind. */
export function findModel(manifest: Manifest, name: string, wanted?: ModelEntry['kind']): ModelEntry {
  const entry = manifest.models.find((model) => model.name === name);
  if (entry === undefined) {
    const possible = manifest.models.filter(({ kind }) => wanted === undefined || kind === wanted);
    const names = possible.map((model) => model.name);
    const near = nearestNames(name, names).join(', ');
    throw new SetupError(
      `There is no model "${name}". The nearest names are ${near}; \`${ownCommand} models list --all\` shows all.`,
    );
  }
  return entry;
}

/** The model's kind, for use in a sentence. */
export function kindText({ kind }: ModelEntry): string {
  return kind === 'vad' ? 'voice activity' : kind.replace('-', ' ');
}

export function windowPolicy(manifest: Manifest, entry: Pick<SpeechModelEntry, 'name' | 'windows'>): WindowPolicy {
  const policy = manifest.windowPolicies[entry.windows];
  if (policy === undefined) {
    throw new SetupError(`Model "${entry.name}" names the window policy "${entry.windows}", which the manifest lacks.`);
  }
  return policy;
}

/** undefined: the entry names no heads. */
export function alignmentHeads(manifest: Manifest, entry: SpeechModelEntry): AttentionHead[] | undefined {
  const given = entry.alignmentHeads;
  const pairs = typeof given === 'string' ? manifest.alignmentHeads[given] : given;
  if (given !== undefined && pairs === undefined) {
    throw new SetupError(
      `Model "${entry.name}" names the alignment heads "${String(given)}", which the manifest lacks.`,
    );
  }
  return pairs?.map(([layer, head]) => ({ layer, head }));
}
