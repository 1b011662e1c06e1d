/**
 * Ephemeral keys: nothing is stored of them. Each carries what it opens and until when, signed with the server's
 * secret; the key that made it is looked up at each use.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { VerbatimError } from '../../errors.js';

const RAW_KEY = /^(ek_([A-Za-z0-9_-]{1,8192}))\.([A-Za-z0-9_-]{43})$/;

const MAX_SESSION_BYTES = 4000;

export interface EphemeralGrant {
  /** Of the key that made it. */
  keyId: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  /** What the maker wrote into it; null or '': nothing. */
  session: string | null;
}

export type NewEphemeral = Omit<EphemeralGrant, 'expiresAt'> & { seconds: number };

/** Throws `invalid_request` for too long a `session`. */
export function signEphemeral({ keyId, expiresAt, session }: EphemeralGrant, secret: Buffer): string {
  const content = Buffer.from(`${keyId} ${expiresAt} ${session ?? ''}`);
  if (Buffer.byteLength(session ?? '') > MAX_SESSION_BYTES) {
    const message = `The session may have at most ${MAX_SESSION_BYTES} bytes.`;
    throw new VerbatimError('invalid_request', message, { param: 'session' });
  }
  const signed = `ek_${content.toString('base64url')}`;
  return `${signed}.${signatureOf(signed, secret)}`;
}

/** null: it was not made with this secret, was changed, or has expired. */
export function readEphemeral(rawKey: string, secret: () => Buffer, now: number): EphemeralGrant | null {
  const [, signed = '', content = '', signature = ''] = RAW_KEY.exec(rawKey) ?? [];
  if (signed === '') return null;
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(signed, secret())))) return null;
  const [, keyId = '', expiry, session = ''] =
    /^(\S+) (\d+) ([^]*)$/.exec(Buffer.from(content, 'base64url').toString('utf8')) ?? [];
  const expiresAt = Number(expiry);
  return now < expiresAt ? { keyId, expiresAt, session: session === '' ? null : session } : null;
}

/** No raw API key and nothing else that the secret signs begins as these do. */
function signatureOf(signed: string, secret: Buffer): string {
  return createHmac('sha256', secret).update(signed).digest('base64url');
}
