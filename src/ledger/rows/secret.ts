/** What is stored of the server's secret, so that another one is noticed. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Its name among the settings. */
export const SECRET_CHECK = 'secret_check';

export function secretCheckOf(secret: Buffer): Buffer {
  return createHmac('sha256', secret).update(SECRET_CHECK).digest();
}

export function isSecretCheckOf(secret: Buffer, known: unknown): boolean {
  const expected = secretCheckOf(secret);
  return Buffer.isBuffer(known) && known.length === expected.length && timingSafeEqual(known, expected);
}
