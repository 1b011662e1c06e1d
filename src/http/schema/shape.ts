/**
 * Words in which the shapes of requests and answers are written: TypeBox schemas, which are JSON Schema as they stand.
 */
import { Type, type Static, type TProperties } from 'typebox';
import { Errors } from 'typebox/value';
import { VerbatimError } from '../../errors.js';

/** An object that has these members and no others. */
export function shape<T extends TProperties>(properties: T, description?: string) {
  const options = description === undefined ? {} : { description };
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** The field of a form that holds the file. */
export function fileField(description: string) {
  return Type.String({
    // By the format Swagger UI and generators know a file; the media type is what OpenAPI 3.1 says of it.
    format: 'binary',
    contentMediaType: 'application/octet-stream',
    examples: ['(the bytes of the file)'],
    description,
  });
}

/** One of these strings. */
export function oneOf<const T extends string>(values: readonly T[], options: object) {
  return Type.Unsafe<T>({ type: 'string', enum: values, ...options });
}

export function textOrNull(options: object) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });
}

export const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [3] });

export const seconds = (description: string) => Type.Number({ minimum: 0, description, examples: [0.91] });

export const passed = (description: string) => Type.Boolean({ description, examples: [true] });

export const id = (prefix: string, example: string) =>
  Type.String({ pattern: `^${prefix}_[A-Za-z0-9_-]+$`, examples: [`${prefix}_${example}`] });

const time = {
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  description: 'ISO 8601, UTC, with milliseconds.',
  examples: ['2026-11-20T17:24:00.000Z'],
};
export const timestamp = Type.String(time);
export const timestampOrNull = textOrNull(time);

export const languageCode = { description: 'ISO 639-1 code.', examples: ['es'] };

export const requestId = Type.String({
  description: 'The value of `X-Request-Id`; quote it in a report.',
  examples: ['req_4f1d7c2e-8a53-4b8e-9a0f-2f6d1c7b9e10'],
});

export const key = {
  id: id('key', 'x1ZtJ0m4k9Qe2Lw7'),
  name: Type.String({ minLength: 1, examples: ['laptop'] }),
  prefix: Type.String({
    pattern: '^vb_[A-Za-z0-9_-]{8}$',
    description: 'The first characters of the raw key, to distinguish keys.',
    examples: ['vb_3q2-7wAb'],
  }),
};

type Shape = ReturnType<typeof shape>;

/** A JSON body in its shape. Throws `invalid_request` that names the member at fault and says what is allowed. */
export function parseBody<T extends Shape>(schema: T, body: Record<string, unknown>): Static<T> {
  const allowed = Object.keys(schema.properties);
  // Absent where every member is optional.
  const required: readonly string[] = (schema as { required?: string[] }).required ?? [];
  const unknown = Object.keys(body).find((member) => !allowed.includes(member));
  if (unknown !== undefined) {
    throw invalid(unknown, `Unknown member "${unknown}"; allowed: ${allowed.join(', ')}.`);
  }
  for (const [member, described] of Object.entries(schema.properties)) {
    const [error] = Errors(described, body[member]);
    if (error === undefined || (body[member] === undefined && !required.includes(member))) {
      continue;
    }
    if (error.keyword === 'type') {
      const { type } = described as { type?: string };
      throw invalid(member, `${member} must be a ${type ?? 'value of the documented type'}.`);
    }
    throw invalid(member, `${member} ${error.message}.`);
  }
  return body as Static<T>;
}

export function invalid(param: string, message: string): VerbatimError {
  return new VerbatimError('invalid_request', message, { param });
}
