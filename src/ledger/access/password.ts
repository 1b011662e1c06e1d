/** Passwords as they are stored: scrypt, with its parameters beside each, so that they can grow. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { VerbatimError } from '../../errors.js';
import { lengthOf } from '../text.js';

export interface PasswordRecord extends ScryptCost {
  salt: Buffer;
  hash: Buffer;
}

export interface ScryptCost {
  /** N: a power of two. */
  cost: number;
  /** r */
  blockSize: number;
  /** p */
  parallelization: number;
}

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 256;

/** 32 MiB, and as much work as N = 2^17 with p = 1 and four times the memory (OWASP's table). */
export const SCRYPT_COST: ScryptCost = Object.freeze({ cost: 32_768, blockSize: 8, parallelization: 3 });

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Throws `invalid_request` for a password that is too short or too long, or is the account's own e-mail address. */
export async function hashPassword(password: string, email: string, cost: ScryptCost): Promise<PasswordRecord> {
  const length = lengthOf(password);
  if (length < MIN_PASSWORD_LENGTH || length > MAX_PASSWORD_LENGTH) {
    throw weak(`The password must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`);
  }
  if (password.toLowerCase() === email.toLowerCase()) throw weak('The password is the e-mail address.');
  return rehash(password, cost);
}

/** Of a password that was good enough when it was set. */
export async function rehash(password: string, cost: ScryptCost): Promise<PasswordRecord> {
  const { blockSize, parallelization } = cost;
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, HASH_BYTES, cost);
  return { cost: cost.cost, blockSize, parallelization, salt, hash };
}

/**
 * Without a record it takes as long as at `usual` cost, and is false: its duration does not show whether an account has
 * a password.
 */
export async function verifyPassword(
  password: string,
  record: PasswordRecord | null,
  usual: ScryptCost,
): Promise<boolean> {
  // A longer one was never set, and would cost more than others.
  const given = lengthOf(password) > MAX_PASSWORD_LENGTH ? '' : password;
  const { salt, hash, ...cost } = record ?? { ...usual, salt: NO_SALT, hash: NO_HASH };
  const derived = await derive(given, salt, hash.length, cost);
  return timingSafeEqual(derived, hash) && record !== null;
}

export function isOutdated(record: ScryptCost, usual: ScryptCost): boolean {
  return (
    record.cost !== usual.cost ||
    record.blockSize !== usual.blockSize ||
    record.parallelization !== usual.parallelization
  );
}

const NO_SALT = Buffer.alloc(SALT_BYTES);
const NO_HASH = Buffer.alloc(HASH_BYTES);

/** The same password typed on another keyboard may come in other code points. */
function derive(
  password: string,
  salt: Buffer,
  bytes: number,
  { cost, blockSize, parallelization }: ScryptCost,
): Promise<Buffer> {
  const maxmem = 256 * cost * blockSize;
  const options = { cost, blockSize, parallelization, maxmem };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, bytes, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

function weak(message: string): VerbatimError {
  return new VerbatimError('invalid_request', message, { param: 'password' });
}
