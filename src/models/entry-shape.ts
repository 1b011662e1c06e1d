/** Validates the entries of a registry file, which people and other programs may have edited. */
import { Type, type TObject } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { SetupError } from '../errors.js';
import type { ModelEntry } from './manifest.js';

const text = Type.String({ minLength: 1 });
const languages = Type.Array(text, { minItems: 1 });
const hash = (digits: number) => Type.String({ pattern: `^[0-9a-f]{${digits}}$` });
const index = Type.Integer({ minimum: 0 });

const file = {
  file: text,
  size: Type.Optional(index),
  sha256: Type.Optional(hash(64)),
  sha1: Type.Optional(hash(40)),
  url: Type.Optional(text),
};

const base = {
  name: text,
  licence: text,
  source: text,
  bundled: Type.Optional(Type.Boolean()),
  demonstration: Type.Optional(Type.Boolean()),
};

const SHAPES: Readonly<Record<ModelEntry['kind'], TObject>> = {
  speech: Type.Object({
    ...base,
    ...file,
    languages: Type.Union([languages, Type.Literal('whisper')]),
    windows: text,
    translates: Type.Optional(Type.Boolean()),
    minAverageLogProbability: Type.Optional(Type.Number({ maximum: 0 })),
    alignmentHeads: Type.Optional(Type.Union([text, Type.Array(Type.Tuple([index, index]))])),
  }),
  translation: Type.Object({
    ...base,
    directory: text,
    files: Type.Array(Type.Object(file)),
    from: languages,
    to: languages,
    targetToken: Type.Optional(
      Type.Object({ place: Type.Union([Type.Literal('source'), Type.Literal('prefix')]), template: text }),
    ),
    sourceToken: Type.Optional(text),
    codes: Type.Optional(Type.Record(Type.String(), Type.String())),
  }),
  vad: Type.Object({ ...base, ...file }),
  'speaker-segmentation': Type.Object({ ...base, ...file }),
  'speaker-embedding': Type.Object({
    ...base,
    ...file,
    languages: Type.Union([languages, Type.Literal('any')]),
    threshold: Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 10 }),
    minSeconds: Type.Number({ minimum: 0 }),
  }),
};

const KINDS = Object.keys(SHAPES) as ModelEntry['kind'][];

/** Returns the models of a registry's JSON. Throws an Error that names the file, the entry and what is wrong. */
export function checkedModels(value: unknown, path: string): ModelEntry[] {
  const { models } = (value ?? {}) as { models?: unknown };
  if (!Array.isArray(models)) throw new SetupError(`${path} has no list "models".`);
  for (const [number, entry] of models.entries()) {
    const problem = problemOf(entry);
    if (problem !== null) throw new SetupError(`${path}: models[${number}] ${problem}.`);
  }
  return models as ModelEntry[];
}

function problemOf(entry: unknown): string | null {
  const kind = KINDS.find((known) => known === (entry as { kind?: unknown } | null)?.kind);
  if (kind === undefined) return `has no kind that is known; allowed: ${KINDS.join(', ')}`;
  if (Check(SHAPES[kind], entry)) return null;
  const [first] = Errors(SHAPES[kind], entry);
  return `(${kind}): ${first?.instancePath ?? ''} ${first?.message ?? 'is not what it has to be'}`;
}
