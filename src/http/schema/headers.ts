/** Headers that any answer may carry, each described once. Headers of one resource are described beside its shapes. */
import type { OutgoingHttpHeaders } from 'node:http';
import { Type, type Static, type TSchema } from 'typebox';
import { parameter } from './parameter.js';

export interface ResponseHeader<T extends TSchema = TSchema> {
  name: string;
  description: string;
  /** In every answer that the document gives it to. */
  required: boolean;
  schema: T;
  example: Static<T>;
}

/** Lets TypeScript find the type. */
export function responseHeader<T extends TSchema>(described: ResponseHeader<T>): ResponseHeader<T> {
  return described;
}

export function headerOf<T extends TSchema>(
  { name }: ResponseHeader<T>,
  value: Static<T> & (string | number),
): OutgoingHttpHeaders {
  return { [name]: value };
}

const requestId = Type.String({ pattern: '^[A-Za-z0-9._-]{1,128}$' });

export const GivenRequestId = parameter({
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description: "The client's own id of the request; one that does not match the pattern is replaced, not refused.",
  schema: requestId,
  example: 'order-1138',
});

export const RequestId = responseHeader({
  name: 'X-Request-Id',
  description: "The client's own X-Request-Id if it was valid, else a new one. Errors repeat it in the body.",
  required: true,
  schema: requestId,
  example: 'req_4f1d7c2e-8a53-4b8e-9a0f-2f6d1c7b9e10',
});

export const Location = responseHeader({
  name: 'Location',
  description: 'The path of the created resource.',
  required: true,
  schema: Type.String({ pattern: '^/' }),
  example: '/api/v1/jobs/job_mvC0kFvXqzT1wR8yN5dE2Q',
});

export const WwwAuthenticate = responseHeader({
  name: 'WWW-Authenticate',
  description: 'The scheme to use.',
  required: true,
  schema: Type.Unsafe<'Bearer'>({ type: 'string', const: 'Bearer' }),
  example: 'Bearer',
});

export const Allow = responseHeader({
  name: 'Allow',
  description: 'The methods that the path supports.',
  required: true,
  schema: Type.String(),
  example: 'GET, HEAD, OPTIONS',
});

export const RetryAfter = responseHeader({
  name: 'Retry-After',
  description: 'Whole seconds after which a retry makes sense, computed from the measured backlog.',
  required: true,
  schema: Type.Integer({ minimum: 1 }),
  example: 12,
});
