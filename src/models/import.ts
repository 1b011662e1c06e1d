/** Imports a speech model into the models directory and its registry. */
import { closeSync, copyFileSync, openSync, readSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeDirectory, SHARED } from '../make-directory.js';
import type { SpeechModelInfo } from '../engine/binding.js';
import { fromWhisperLanguage } from '../engine/languages.js';
import {
  VOICE_ACTIVITY_MODEL,
  type ModelEntry,
  type ModelFile,
  type SpeechModelEntry,
  type VoiceActivityModelEntry,
} from './manifest.js';
import { removePackedWeights } from './packed-weights.js';
import { IMPORTED_FILE, readImported } from './read-manifest.js';
import { hashFile, type StoreRoots } from './store.js';

export interface ImportSpeechOptions {
  roots: StoreRoots;
  name?: string;
  /** The name of a window policy of the manifest. Default: the policy of the model's family. */
  windows?: string | undefined;
  /** Whether the model was trained for Whisper's translate task. */
  translates: boolean;
  /**
   * The languages that it recognises (ISO 639-1). Required if its file names none. Default: all that its file names.
   */
  languages?: readonly string[] | undefined;
  /** Loads the file once. Throws if it is not a usable model. */
  check: (path: string) => Promise<Pick<SpeechModelInfo, 'family' | 'abilities' | 'languages'>>;
}

/** The window policy of each model family, and its decoder if only one can decode it. */
export const FAMILY_TRAITS: Readonly<Record<SpeechModelInfo['family'], Pick<SpeechModelEntry, 'windows' | 'decoder'>>> =
  {
    whisper: { windows: 'full' },
    parakeet: { windows: 'pauses', decoder: 'whisper.cpp' },
  };

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Copies a ggml file of a speech model. Registers it only if it loads. */
export async function importSpeechModel(path: string, options: ImportSpeechOptions): Promise<SpeechModelEntry> {
  if (!statSync(path).isFile()) throw new Error(`${path} is not a file.`);
  const name = validName(options.name ?? basename(path, '.bin').replace(/^ggml-/, ''));
  const { family, abilities, languages: known } = await options.check(path);
  const languages = spokenLanguages(known.map(fromWhisperLanguage), options.languages);
  if (options.translates && !abilities.translates) {
    throw new Error(`There is nothing that the model could translate: it speaks ${languages.join(', ')}.`);
  }
  const { windows, ...traits } = FAMILY_TRAITS[family];
  const entry: SpeechModelEntry = {
    name,
    kind: 'speech',
    ...(await copyIntoStore(path, `ggml-${name}.bin`, options.roots)),
    licence: 'unknown',
    source: `imported from ${basename(path)}`,
    languages: options.languages === undefined && languages.length > 1 ? 'whisper' : languages,
    windows: options.windows ?? windows,
    ...traits,
    ...(options.translates ? { translates: true } : {}),
  };
  register(options.roots.modelsDir, entry);
  return entry;
}

/** The wanted languages, which must be among those that the file names, if it names any. */
function spokenLanguages(known: string[], wanted: readonly string[] | undefined): string[] {
  if (wanted === undefined && known.length === 0) {
    throw new Error('The file does not say what languages the model speaks; give --languages.');
  }
  const strange = wanted?.filter((code) => known.length > 0 && !known.includes(code)) ?? [];
  if (strange.length > 0) throw new Error(`The model does not know ${strange.join(', ')}.`);
  return [...(wanted ?? known)];
}

export function validName(name: string): string {
  if (!NAME.test(name)) {
    throw new Error(
      `"${name}" cannot be a model name: 1 to 64 letters, digits, '.', '_' and '-', first a letter or digit.`,
    );
  }
  if (name === VOICE_ACTIVITY_MODEL) throw new Error(`"${name}" is the name of the voice activity model.`);
  return name;
}

/** Copies the file into the models directory under this name. */
export async function copyIntoStore(
  path: string,
  file: string,
  { modelsDir }: StoreRoots,
): Promise<Required<Pick<ModelFile, 'file' | 'size' | 'sha256'>>> {
  const target = join(modelsDir, file);
  makeDirectory(modelsDir, SHARED);
  const part = `${target}.part`;
  try {
    copyFileSync(path, part);
    renameSync(part, target);
    removePackedWeights(target);
  } finally {
    rmSync(part, { force: true });
  }
  return { file, size: statSync(target).size, sha256: await hashFile(target, 'sha256') };
}

/** The start of a Silero file: the magic number of ggml, then the length and name of the type. */
const VOICE_ACTIVITY_HEAD = Buffer.from('lmgg\x0a\0\0\0silero-16k', 'latin1');

/** Whether the file's header says that it is a voice activity model. */
export function isVoiceActivityFile(path: string): boolean {
  if (!statSync(path).isFile()) return false;
  const head = Buffer.alloc(VOICE_ACTIVITY_HEAD.length);
  const file = openSync(path, 'r');
  try {
    return readSync(file, head) === head.length && head.equals(VOICE_ACTIVITY_HEAD);
  } finally {
    closeSync(file);
  }
}

export interface ImportVoiceActivityOptions {
  roots: StoreRoots;
  /** Loads the file once. Throws if it is not a usable model. */
  check: (path: string) => Promise<void>;
}

/** Copies a Silero file, and replaces an existing one. Registers it only if it loads. */
export async function importVoiceActivityModel(
  path: string,
  { roots, check }: ImportVoiceActivityOptions,
): Promise<VoiceActivityModelEntry> {
  await check(path);
  const entry: VoiceActivityModelEntry = {
    name: VOICE_ACTIVITY_MODEL,
    kind: 'vad',
    ...(await copyIntoStore(path, `ggml-${VOICE_ACTIVITY_MODEL}.bin`, roots)),
    licence: 'unknown',
    source: `imported from ${basename(path)}`,
  };
  register(roots.modelsDir, entry);
  return entry;
}

/** Adds or replaces an entry in the registry of imported models, atomically. */
export function register(modelsDir: string, entry: ModelEntry): void {
  const models = [...readImported(modelsDir).filter((model) => model.name !== entry.name), entry];
  const path = join(modelsDir, IMPORTED_FILE);
  const part = `${path}.part`;
  writeFileSync(part, `${JSON.stringify({ models }, null, 2)}\n`);
  renameSync(part, path);
}
