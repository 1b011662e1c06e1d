import { randomBytes } from 'node:crypto';

/** `prefix_` and 96 random bits. */
export function randomId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('base64url')}`;
}
