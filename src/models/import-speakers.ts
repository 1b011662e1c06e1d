/** Imports a speaker model, an ONNX file, into the models directory and its registry. */
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { onnxFacts } from '../engine/speakers/onnx-facts.js';
import { register, copyIntoStore, validName } from './import.js';
import type { SpeakerEmbeddingModelEntry, SpeakerSegmentationModelEntry } from './manifest.js';
import type { StoreRoots } from './store.js';

export type SpeakerModelEntry = SpeakerSegmentationModelEntry | SpeakerEmbeddingModelEntry;

export interface SpeakerImportTraits {
  /** Of an embedding model. Default: 0.4. */
  threshold?: number;
  /** Of an embedding model. Default: 1. */
  minSeconds?: number;
}

export interface ImportSpeakersOptions {
  roots: StoreRoots;
  name?: string;
  traits?: SpeakerImportTraits;
  /** Runs the file once as a model of this kind. Throws if it is not one. */
  check: (path: string, kind: SpeakerModelEntry['kind']) => Promise<void>;
}

const ONNX = /\.onnx$/i;

export function isOnnxFile(path: string): boolean {
  return ONNX.test(path) && statSync(path).isFile();
}

/** Reads the model's kind from the file. Throws EngineError `invalid_model` if the file is not ONNX. */
export function speakerModelKind(path: string): SpeakerModelEntry['kind'] {
  const isSegmentation = onnxFacts(readFileSync(path)).has('powerset_max_classes');
  return isSegmentation ? 'speaker-segmentation' : 'speaker-embedding';
}

/** Registers the model only if it runs. */
export async function importSpeakerModel(
  path: string,
  { roots, name: given, traits = {}, check }: ImportSpeakersOptions,
): Promise<SpeakerModelEntry> {
  const name = validName(given ?? basename(path).replace(ONNX, ''));
  const kind = speakerModelKind(path);
  await check(path, kind);
  const origin = { licence: 'unknown', source: `imported from ${basename(path)}` };
  const model = { name, ...(await copyIntoStore(path, `${name}.onnx`, roots)), ...origin };
  const entry: SpeakerModelEntry =
    kind === 'speaker-segmentation'
      ? { ...model, kind }
      : { ...model, kind, languages: 'any', threshold: 0.4, minSeconds: 1, ...traits };
  register(roots.modelsDir, entry);
  return entry;
}
