/**
 * Ephemeral keys: nothing is stored of them. Each carries what it opens and until when, signed with the server's
 * secret; the key that made it is looked up at each use.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const RAW_KEY = /^(ek_([A-Za-z0-9_-]{1,8192}))\.([A-Za-z0-9_-]{43})$/;

export interface EphemeralGrant {
  /** Of the key that made it. */
  keyId: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  /** What the maker wrote into it; null: nothing. */
  session: string | null;
}

export type NewEphemeral = Omit<EphemeralGrant, 'expiresAt'> & { seconds: number };

export function signEphemeral({ keyId, expiresAt, session }: EphemeralGrant, secret: Buffer): string {
  const signed = `ek_${Buffer.from(JSON.stringify([keyId, expiresAt, session])).toString('base64url')}`;
  return `${signed}.${signatureOf(signed, secret)}`;
}

/** null: it was not made with this secret, was changed, or has expired. */
export function readEphemeral(rawKey: string, secret: () => Buffer, now: number): EphemeralGrant | null {
  const [, signed = '', content = '', signature = ''] = RAW_KEY.exec(rawKey) ?? [];
  if (signed === '') return null;
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(signed, secret())))) return null;
  const written = JSON.parse(Buffer.from(content, 'base64url').toString('utf8')) as [string, number, string | null];
  const [keyId, expiresAt, session] = written;
  return now < expiresAt ? { keyId, expiresAt, session } : null;
}

/** No raw API key and nothing else that the secret signs begins as these do. */
function signatureOf(signed: string, secret: Buffer): string {
  return createHmac('sha256', secret).update(signed).digest('base64url');
}
