/** Passwords as they are stored. */
import type { PasswordRecord } from '../access/password.js';
import { DAY_MS } from '../time.js';

/** Of a sign-in link. */
export const LINK_LIFE_MS = DAY_MS;
/** Name of the key that the dashboard's requests are booked under, as it is listed. */
export const DASHBOARD_KEY = 'dashboard';

export interface PasswordRow {
  cost: number;
  block_size: number;
  parallelization: number;
  salt: Buffer;
  hash: Buffer;
}

export function toPassword(row: PasswordRow): PasswordRecord {
  const { cost, block_size: blockSize, parallelization, salt, hash } = row;
  return { cost, blockSize, parallelization, salt, hash };
}
