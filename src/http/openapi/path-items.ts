/** Words in which path items of the document are written. */
import { errorsOf, type Guard } from '../errors/error-table.js';
import { GivenRequestId, RequestId, type ResponseHeader } from '../schema/headers.js';
import type { Parameter } from '../schema/parameter.js';
import { errorResponses, type InvalidRequestExample } from './error-responses.js';
import { examples } from './examples.js';
import { headerRefs, parameterRefs } from './references.js';

type Json = Record<string, unknown>;

export const BEHIND_TOKEN: readonly Guard[] = ['http', 'token'];
export const BEHIND_KEY: readonly Guard[] = [...BEHIND_TOKEN, 'key'];
export const BEHIND_MANAGEMENT_KEY: readonly Guard[] = [...BEHIND_KEY, 'scope'];

/** A path item; every request may name itself. */
export function path(item: Json, ...parameters: Parameter[]): Json {
  return { parameters: parameterRefs(GivenRequestId, ...parameters), ...item };
}

/** The errors of an operation, which is known by its id. */
export function errors(
  operation: string,
  guards: readonly Guard[],
  invalidRequest?: InvalidRequestExample,
): Record<string, Json> {
  return errorResponses(errorsOf(operation, guards), invalidRequest);
}

export function content(type: string, schema: string, example = schema): Json {
  return {
    [type]: { schema: { $ref: `#/components/schemas/${schema}` }, examples: examples[example] },
  };
}

export function answer(schema: string, description: string, headers: ResponseHeader[] = [], example = schema): Json {
  return {
    description,
    headers: headerRefs(RequestId, ...headers),
    content: content('application/json', schema, example),
  };
}

/** An answer that is not one of the JSON shapes. */
export function document(type: string, description: string, schema: Json, example: unknown): Json {
  const headers = headerRefs(RequestId);
  return { description, headers, content: { [type]: { schema, example } } };
}
