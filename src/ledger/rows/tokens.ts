import { createHash, randomBytes } from 'node:crypto';

/** Of a link or a session. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of a link or a session. Their tokens are 256 random bits: a plain hash reveals nothing of them. */
export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
