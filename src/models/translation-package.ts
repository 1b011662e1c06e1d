/**
 * Finds the parts of a translation model in a directory. CTranslate2 converters, model hubs and Argos use different
 * layouts.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { normalizeLanguage } from '../engine/languages.js';

export interface TranslationPackage {
  /** The model's files, with the names that they get. */
  files: { path: string; name: string }[];
  /** From the metadata.json of an Argos package. */
  from: string | null;
  to: string | null;
  targetPrefix: string | null;
}

const WEIGHTS = 'model.bin';
const METADATA = 'metadata.json';

const MODEL_FILES = /^(?:model\.bin|config\.json|(?:shared|source|target)_vocabulary\.(?:json|txt))$/;
const TOKENIZER = 'sentencepiece(?:\\.bpe)?|spm(?:\\.128k)?|tokenizer|flores200_sacrebleu_tokenizer_spm';
const TOKENIZERS = new RegExp(`^(?:(?:source|target)\\.spm|(?:${TOKENIZER})\\.model)$`);
const PAPERS = /^(?:README|LICEN[CS]E|NOTICE)(?:\.(?:md|txt))?$/i;

/** Throws an Error that says what is missing or not supported. */
export function findTranslationPackage(directory: string): TranslationPackage {
  const root = findRoot(directory);
  const metadata = readMetadata(root);
  const weights = existsSync(join(root, WEIGHTS)) ? root : join(root, 'model');
  const files = [...filesOf(weights, MODEL_FILES), ...tokenizersOf(root, weights), ...filesOf(root, PAPERS)];
  return { files, ...languagesOf(root, metadata) };
}

/** The directory itself, or the single top directory of an unpacked archive. */
function findRoot(directory: string): string {
  if (isRoot(directory)) return directory;
  const [root, ...others] = subdirectories(directory).filter(isRoot);
  if (root === undefined) {
    throw new Error(
      `${basename(directory)} is no translation model: there is no ${WEIGHTS}, in it or in a directory "model".`,
    );
  }
  if (others.length > 0) throw new Error(`${basename(directory)} holds more than one model; import one at a time.`);
  return root;
}

function isRoot(directory: string): boolean {
  return existsSync(join(directory, WEIGHTS)) || existsSync(join(directory, 'model', WEIGHTS));
}

function subdirectories(directory: string): string[] {
  return readdirSync(directory)
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isDirectory());
}

function filesOf(directory: string, names: RegExp): TranslationPackage['files'] {
  return readdirSync(directory)
    .filter((name) => names.test(name) && statSync(join(directory, name)).isFile())
    .map((name) => ({ path: join(directory, name), name }));
}

function tokenizersOf(root: string, weights: string): TranslationPackage['files'] {
  const [beside, above] = [filesOf(weights, TOKENIZERS), filesOf(root, TOKENIZERS)];
  const found = beside.length > 0 ? beside : above;
  if (found.length > 0) return found;
  if (existsSync(join(root, 'bpe.model'))) {
    throw new Error(
      `${basename(root)} is tokenized with subword-nmt BPE (bpe.model), which is not supported; ` +
        'packages with a SentencePiece model are.',
    );
  }
  throw new Error(`${root} has no SentencePiece model (source.spm and target.spm, or sentencepiece.model).`);
}

function readMetadata(root: string): Record<string, unknown> {
  const path = join(root, METADATA);
  if (!existsSync(path)) return {};
  let metadata: unknown;
  try {
    metadata = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${METADATA} is not valid JSON: ${(error as Error).message}`, { cause: error });
  }
  if (typeof metadata !== 'object' || metadata === null) throw new Error(`${METADATA} is not an object.`);
  return metadata as Record<string, unknown>;
}

function languagesOf(
  root: string,
  metadata: Record<string, unknown>,
): Pick<TranslationPackage, 'from' | 'to' | 'targetPrefix'> {
  const { type = 'translate', from_code: from, to_code: to, target_prefix: prefix } = metadata;
  if (type !== 'translate') {
    throw new Error(`${basename(root)} is a package of the type ${JSON.stringify(type)}, not "translate".`);
  }
  const language = (value: unknown): string | null => (typeof value === 'string' ? normalizeLanguage(value) : null);
  const targetPrefix = typeof prefix === 'string' && prefix !== '' ? prefix : null;
  return { from: language(from), to: language(to), targetPrefix };
}
