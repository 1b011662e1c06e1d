/** Where a list goes on, as text that clients send back unread: the last row's place. */
import type { CheckedParameter } from './parameter.js';
import { invalid } from './shape.js';

/** `parts`: without spaces. */
export function cursorOf(...parts: readonly string[]): string {
  return Buffer.from(parts.join(' ')).toString('base64url');
}

/** Of a list that is ordered by time; throws `invalid_request` that names the parameter. */
export function datedPlaceOf(cursor: string, asked: CheckedParameter): { createdAt: string; id: string } {
  const [createdAt = '', id = ''] = cursorParts(cursor, 2, asked);
  if (Number.isNaN(Date.parse(createdAt))) throw invalid(asked.name, asked.refusal);
  return { createdAt, id };
}

/** Throws `invalid_request` that names the parameter. */
export function cursorParts(cursor: string, count: number, { name, refusal }: CheckedParameter): string[] {
  const parts = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  if (parts.length === count) return parts;
  throw invalid(name, refusal);
}
