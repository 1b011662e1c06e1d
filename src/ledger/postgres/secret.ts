/**
 * The check that all servers of a database have the same secret. It is never stored there: a dump holds no key to its
 * keys.
 */
import { isSecretCheckOf, SECRET_CHECK, secretCheckOf } from '../rows/secret.js';
import type { Querying } from './connections.js';

const FILE_SECRET = /^[0-9a-f]{64}$/;

/**
 * The secrets that a text in VERBATIM_SECRET may stand for: the text itself, or the bytes of the file beside an SQLite
 * database.
 */
function secretsOf(text: string): Buffer[] {
  const plain = Buffer.from(text, 'utf8');
  return FILE_SECRET.test(text) ? [plain, Buffer.from(text, 'hex')] : [plain];
}

/**
 * Under a lock that the caller's transaction holds. Throws an Error for another secret than the one the keys were made
 * with.
 */
export async function verifySecret(query: Querying, text: string): Promise<Buffer> {
  const [plain = Buffer.alloc(0), ...others] = secretsOf(text);
  const [stored] = await query<{ value: Buffer }>('SELECT value FROM settings WHERE name = $1', [SECRET_CHECK]);
  const known = [plain, ...others].find((secret) => isSecretCheckOf(secret, stored?.value));
  if (known !== undefined) return known;
  const [keys] = await query<{ live: boolean }>(
    'SELECT EXISTS (SELECT 1 FROM api_keys WHERE revoked_at IS NULL) AS live',
  );
  if (stored !== undefined && keys?.live === true) {
    throw new Error(
      'The API keys in the database were made with another VERBATIM_SECRET. Give every server and the command line ' +
        'the same one; or revoke every key and make new ones.',
    );
  }
  await query(
    `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [SECRET_CHECK, secretCheckOf(plain)],
  );
  return plain;
}
