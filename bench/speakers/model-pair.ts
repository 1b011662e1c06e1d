/** The speaker models that are measured, with their traits. */
import { existsSync } from 'node:fs';
import type { SpeakerEngineOptions } from '../../src/engine/speakers/speaker-engine.js';
import type { ModelEntry } from '../../src/models/manifest.js';
import { isInstalled, modelPath } from '../../src/models/store.js';
import type { ServiceContext } from '../../src/service/context.js';
import { speakerModels } from '../../src/service/speaker-engine.js';

export interface PairOptions {
  /** Names of models of the manifest, or paths of ONNX files; absent: those that `serve` would take. */
  segmentation?: string;
  embedding?: string;
  /** Absent: the trait of the embedding, which for a file is that of the one that `serve` would take. */
  threshold?: number;
  minSeconds?: number;
}

export type ModelPair = Pick<SpeakerEngineOptions, 'segmentation' | 'embedding' | 'threshold' | 'minSeconds'>;

/** Throws an Error that says what to do where a model is not there. */
export function modelPair(options: PairOptions, context: ServiceContext): ModelPair {
  const { config, manifest } = context;
  const { segmentation, embedding } = speakerModels(
    {
      speakerSegmentation: nameOf(options.segmentation) ?? config.speakerSegmentation,
      speakerEmbedding: nameOf(options.embedding) ?? config.speakerEmbedding,
    },
    manifest,
  );
  return {
    segmentation: pathOf(options.segmentation, segmentation, context),
    embedding: pathOf(options.embedding, embedding, context),
    threshold: options.threshold ?? embedding.threshold,
    minSeconds: options.minSeconds ?? embedding.minSeconds,
  };
}

function nameOf(given: string | undefined): string | null {
  return given === undefined || existsSync(given) ? null : given;
}

function pathOf(given: string | undefined, entry: ModelEntry, { roots }: ServiceContext): string {
  if (given !== undefined && existsSync(given)) return given;
  if (isInstalled(roots, entry)) return modelPath(roots, entry);
  throw new Error(`The model "${entry.name}" is not installed. Run: npx verbatim models pull ${entry.name}`);
}
