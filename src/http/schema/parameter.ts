/**
 * Parameters and headers of requests, each described once: its type, its check and its place in the document follow.
 */
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { invalid } from './shape.js';

interface Description<T extends TSchema> {
  name: string;
  in: 'query' | 'path' | 'header';
  required: boolean;
  description: string;
  schema: T;
  example: Static<T>;
}

export interface Parameter<T extends TSchema = TSchema> extends Description<T> {
  /** Whether a value fits: the schema, compiled, since requests by the thousand are asked. */
  fits: (value: unknown) => value is Static<T>;
}

/** A parameter whose value is checked: a value that does not fit is refused. */
export interface CheckedParameter<T extends TSchema = TSchema> extends Parameter<T> {
  /** The message to the client. */
  refusal: string;
}

export function parameter<T extends TSchema>(described: Description<T>): Parameter<T> {
  const compiled = Compile(described.schema);
  return { ...described, fits: (value): value is Static<T> => compiled.Check(value) };
}

export function checkedParameter<T extends TSchema>(
  described: Description<T> & { refusal: string },
): CheckedParameter<T> {
  return { ...parameter(described), refusal: described.refusal };
}

/** Throws `invalid_request` that names the parameter. */
export function readParameter<T extends TSchema, F>(
  { name, schema, refusal, fits }: CheckedParameter<T>,
  given: unknown,
  absent: F,
): Static<T> | F {
  if (given === undefined) return absent;
  const value = 'type' in schema && schema.type === 'integer' ? integerIn(given) : given;
  if (fits(value)) return value;
  throw invalid(name, refusal);
}

function integerIn(given: unknown): unknown {
  return typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : given;
}
