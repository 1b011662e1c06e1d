/** models/manifest.json: what models there are, where they come from, and the traits the engine needs to know. */
import { SetupError } from '../errors.js';
import type { AttentionHead, WindowPolicy } from '../engine/binding.js';
import { nearestNames } from './nearest-names.js';
import { ownCommand } from '../package-root.js';

export interface ModelFile {
  /** Relative to the models directory (bundled models: to the package's own models directory). */
  file: string;
  /** Bytes, where published. */
  size?: number;
  sha256?: string;
  /** whisper.cpp publishes SHA-1. */
  sha1?: string;
  /** Path on HF_ENDPOINT when it begins with '/', else a whole URL. */
  url?: string;
}

interface ModelEntryBase {
  name: string;
  licence: string;
  source: string;
  /** Ships with this package. */
  bundled?: boolean;
  /**
   * Made to show that the service works: it knows a set of phrases. Only such a model has a minAverageLogProbability.
   */
  demonstration?: boolean;
  /** Among the first of `models list`, which leaves out most of the others. */
  recommended?: boolean;
}

export interface SpeechModelEntry extends ModelEntryBase, ModelFile {
  kind: 'speech';
  /** 'whisper': every language the weights know; a list where the file names none. */
  languages: string[] | 'whisper';
  /** What alone decodes it; absent: either decoder does. */
  decoder?: 'whisper.cpp';
  /** Name of a window policy of the manifest. */
  windows: string;
  /** Trained for Whisper's translate task, speech of any of its languages into English text. */
  translates?: boolean;
  /**
   * Text whose tokens have a lower mean natural log-probability, <= 0, is left out; bench/RESULTS-decoder.md says how
   * the bundled model's was chosen. Absent: every text is kept.
   */
  minAverageLogProbability?: number;
  /**
   * The heads of the decoder by which words are aligned: the name of a published set of the manifest, or those that
   * were measured. Absent: all of the upper half of its layers.
   */
  alignmentHeads?: string | HeadPair[];
}

/** [layer, head], both counted from 0. */
export type HeadPair = [number, number];

/** A Silero model as whisper.cpp's ggml file of it. */
export interface VoiceActivityModelEntry extends ModelEntryBase, ModelFile {
  kind: 'vad';
}

/** Who of a few people speaks in each frame of a window: an ONNX file of the form of pyannote-segmentation-3.0. */
export interface SpeakerSegmentationModelEntry extends ModelEntryBase, ModelFile {
  kind: 'speaker-segmentation';
}

/** Whose voice it is: an ONNX file. Its traits are chosen on conversations that nobody is judged by. */
export interface SpeakerEmbeddingModelEntry extends ModelEntryBase, ModelFile {
  kind: 'speaker-embedding';
  /** In which it distinguishes voices (ISO 639-1). */
  languages: string[] | 'any';
  /**
   * Above 0 and below 10: what one voice more must explain, in pieces of speech of two seconds; higher: fewer speakers.
   */
  threshold: number;
  /** Who speaks for less in all is taken for somebody else, unless all do. */
  minSeconds: number;
}

/** The one model of voice activity that there is to install. */
export const VOICE_ACTIVITY_MODEL = 'silero-vad';

export interface TranslationModelEntry extends ModelEntryBase {
  kind: 'translation';
  /** The model's directory, relative like ModelFile.file. */
  directory: string;
  /** Its files; an archive (.argosmodel, .zip) is unpacked into the directory. */
  files: ModelFile[];
  /** Languages in, languages out (ISO 639-1); every source goes to every target but itself. */
  from: string[];
  to: string[];
  /** How the target language is given: nothing (one pair), a first source token ('>>{}<<'), or a target prefix. */
  targetToken?: { place: 'source' | 'prefix'; template: string };
  /** A first source token with the source language, for models that want one (NLLB, M2M100); like a template. */
  sourceToken?: string;
  /** The model's own codes of languages, where they are not those of the service ('spa_Latn'). */
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
  /** As OpenAI published them, by the name of its model. */
  alignmentHeads: Record<string, HeadPair[]>;
  models: ModelEntry[];
}

/** Throws a SetupError that names the nearest models, where a kind is wanted those of it. */
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

/** Of a model, in a sentence. */
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

/** Undefined where the entry names none. */
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
