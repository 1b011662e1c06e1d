/** The error table, as responses of the document: one a status, with every code it may carry as an example. */
import type { ErrorCode } from '../../errors.js';
import { ERROR_HEADERS, ERROR_TABLE } from '../errors/error-table.js';
import { RequestId } from '../schema/headers.js';
import { headerRefs } from './references.js';

type Json = Record<string, unknown>;

/** The most frequent message for a malformed request to one endpoint. */
export interface InvalidRequestExample {
  message: string;
  param: string;
}

export function errorResponses(
  codes: readonly ErrorCode[],
  invalidRequest?: InvalidRequestExample,
): Record<string, Json> {
  const responses: Record<string, Json> = {};
  for (const status of [...new Set(codes.map((code) => ERROR_TABLE[code].status))].sort()) {
    const own = codes.filter((code) => ERROR_TABLE[code].status === status);
    responses[String(status)] = errorResponse(status, own, invalidRequest);
  }
  return responses;
}

export function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  invalidRequest?: InvalidRequestExample,
): Json {
  const own = ERROR_HEADERS[status];
  const words = (code: ErrorCode): { message: string; param?: string } =>
    (code === 'invalid_request' ? invalidRequest : undefined) ?? ERROR_TABLE[code];
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_TABLE[code].meaning}`).join('\n\n'),
    headers: headerRefs(RequestId, ...(own === undefined ? [] : [own])),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: errorExample(code, words(code)) }])),
      },
    },
  };
}

function errorExample(code: ErrorCode, { message, param = null }: { message: string; param?: string | null }) {
  return { error: { code, message, param, request_id: 'req_4f1d7c2e-8a53-4b8e-9a0f-2f6d1c7b9e10' } };
}
