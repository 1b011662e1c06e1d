/** Creates the engine that distinguishes speakers, as VERBATIM_SPEAKERS and the variables for its models say. */
import { statSync } from 'node:fs';
import { memoryOfProcess } from '../engine/process/heartbeat.js';
import type { SupervisorObserver } from '../engine/process/supervisor.js';
import { SpeakerEngine } from '../engine/speakers/speaker-engine.js';
import {
  findModel,
  kindText,
  type Manifest,
  type ModelEntry,
  type SpeakerEmbeddingModelEntry,
  type SpeakerSegmentationModelEntry,
} from '../models/manifest.js';
import { isInstalled, modelPath, type StoreRoots } from '../models/store.js';
import type { Config } from './config.js';
import { bytesFor, type Unloadable } from './model-memory.js';
import { ConfigError, type Variable } from './variables.js';
import { ownCommand } from '../package-root.js';

export type SpeakerSettings = Pick<Config, 'speakers' | 'speakerSegmentation' | 'speakerEmbedding'>;

/** The engine that distinguishes speakers, or a sentence that says why there is none. */
export type Speakers =
  | {
      engine: SpeakerEngine;
      segmentation: SpeakerSegmentationModelEntry;
      /** Includes the languages in which voices are distinguished. */
      embedding: SpeakerEmbeddingModelEntry;
      /** Memory that its process uses. */
      bytes: number;
    }
  | { engine: null; unavailable: string };

export interface SpeakerOptions {
  observer?: SupervisorObserver;
  hasRuntime?: () => boolean;
}

/**
 * Loads nothing before the first file. If a model is named and it or the runtime is missing, throws an Error that says
 * what to do. Default models may be missing.
 */
export function createSpeakerEngine(
  settings: SpeakerSettings,
  roots: StoreRoots,
  manifest: Manifest,
  { observer, hasRuntime = isRuntimeInstalled }: SpeakerOptions = {},
): Speakers {
  if (settings.speakers === 'off') return off(settings);
  const { segmentation, embedding } = speakerModels(settings, manifest);
  const missing = whatIsMissing([segmentation, embedding], roots, hasRuntime);
  if (missing !== null) {
    if (settings.speakerSegmentation ?? settings.speakerEmbedding) throw new Error(missing);
    return { engine: null, unavailable: missing };
  }
  const { threshold, minSeconds } = embedding;
  const engine = new SpeakerEngine({
    segmentation: modelPath(roots, segmentation),
    embedding: modelPath(roots, embedding),
    ...{ threads: 1, threshold, minSeconds },
    ...(observer === undefined ? {} : { observer }),
  });
  const bytes = bytesFor(size(modelPath(roots, segmentation)) + size(modelPath(roots, embedding)));
  return { engine, segmentation, embedding, bytes };
}

/** The configured models, installed or not. Throws an Error if a name is unknown or the model has another kind. */
export function speakerModels(
  { speakerSegmentation, speakerEmbedding }: Omit<SpeakerSettings, 'speakers'>,
  manifest: Manifest,
): { segmentation: SpeakerSegmentationModelEntry; embedding: SpeakerEmbeddingModelEntry } {
  const segmentation = findModel(manifest, speakerSegmentation ?? manifest.defaultSpeakerSegmentation);
  const embedding = findModel(manifest, speakerEmbedding ?? manifest.defaultSpeakerEmbedding);
  if (segmentation.kind !== 'speaker-segmentation')
    throw ofAnotherKind(segmentation, 'VERBATIM_SPEAKER_SEGMENTATION', 'speaker segmentation');
  if (embedding.kind !== 'speaker-embedding')
    throw ofAnotherKind(embedding, 'VERBATIM_SPEAKER_EMBEDDING', 'speaker embedding');
  return { segmentation, embedding };
}

function size(path: string): number {
  return statSync(path).size;
}

/** The speaker models as a part of the shared memory. */
export function unloadableSpeakers({ engine }: Speakers): Unloadable | undefined {
  if (engine === null) return undefined;
  return {
    get lastUsed() {
      return engine.stats().lastUsed;
    },
    get isIdle() {
      const { pending, pid } = engine.stats();
      return pending === 0 && pid !== null;
    },
    get bytes() {
      return memoryOfProcess(engine.stats().pid ?? undefined) ?? 0;
    },
    unload: () => engine.unload(),
  };
}

/** The names of the models, or why there are none, for the log. */
export function speakerModelNames(speakers: Speakers): string[] | string {
  if (speakers.engine === null) return speakers.unavailable;
  return [speakers.segmentation.name, speakers.embedding.name];
}

function ofAnotherKind(entry: ModelEntry, variable: Variable, wanted: string): Error {
  return new Error(`"${entry.name}" is a ${kindText(entry)} model; ${variable} must name a ${wanted} model.`);
}

function off({ speakerSegmentation, speakerEmbedding }: SpeakerSettings): Speakers {
  const refuse = (variable: Variable, value: string | null): void => {
    if (value !== null) throw new ConfigError(variable, value, 'nothing, since VERBATIM_SPEAKERS is off');
  };
  refuse('VERBATIM_SPEAKER_SEGMENTATION', speakerSegmentation);
  refuse('VERBATIM_SPEAKER_EMBEDDING', speakerEmbedding);
  return { engine: null, unavailable: 'VERBATIM_SPEAKERS is off.' };
}

function whatIsMissing(models: readonly ModelEntry[], roots: StoreRoots, hasRuntime: () => boolean): string | null {
  const model = models.find((entry) => !isInstalled(roots, entry));
  if (model !== undefined)
    return (
      // Clients see this message too, so it contains no path.
      `The model "${model.name}" is not installed. Run: ${ownCommand} models pull ${model.name}`
    );
  return hasRuntime() ? null : 'The package onnxruntime-node is not installed. Run: npm install --include=optional';
}

function isRuntimeInstalled(): boolean {
  try {
    require.resolve('onnxruntime-node');
    return true;
  } catch {
    return false;
  }
}
