/** A workplace with accounts, and what their ledger says. */
import { join } from 'node:path';
import { VerbatimError } from '../../../src/errors.js';
import { openLedger } from '../../../src/ledger/sqlite/ledger.js';
import { sharedCluster } from '../../support/postgres-cluster.js';
import { inWorkplace, type Workplace } from './rows.js';

export const ADA = ['--email', 'ada@example.org'];
export const OF_ADA = ['--account', 'ada@example.org'];
export const OF_BOB = ['--account', 'bob@example.org'];

export type Row = Record<string, unknown>;

/** A workplace with the accounts of Ada and Bob. */
export function withAccounts(work: (place: Workplace) => Promise<void>): () => Promise<void> {
  return () =>
    inWorkplace(async (place) => {
      await place.printed(['accounts', 'create', ...ADA]);
      await place.printed(['accounts', 'create', '--email', 'bob@example.org']);
      await work(place);
    });
}

export function credits(place: Workplace): Promise<Row[]> {
  return place.json<Row[]>(['accounts', 'list', '--json']);
}

/** The database file of a workplace, and an empty database. */
export async function placeToCopyTo(place: Workplace): Promise<{ from: string; address: string }> {
  const cluster = await sharedCluster();
  const name = `copied_${Date.now()}`;
  await cluster.query(`CREATE DATABASE ${name}`);
  return { from: join(place.directory, 'data', 'verbatim.db'), address: cluster.url(name) };
}

/** What the operators' log has of an action, the oldest first. */
export async function loggedOf({ directory }: Workplace, action: string): Promise<unknown[]> {
  const ledger = openLedger({ path: join(directory, 'data', 'verbatim.db') });
  try {
    const noted = await ledger.operators.list({ limit: 100, before: null });
    const found = noted.filter((entry) => entry.action === action).reverse();
    return found.map(({ subjectEmail, detail, outcome }) => [subjectEmail, detail, outcome]);
  } finally {
    await ledger.close();
  }
}

/** Whose key it is in the ledger; null: nobody's. Or why not. */
export async function whoIs({ directory }: Workplace, rawKey: string): Promise<unknown> {
  const ledger = openLedger({ path: join(directory, 'data', 'verbatim.db') });
  try {
    return (await ledger.keys.authenticate(rawKey))?.account.email ?? null;
  } catch (error) {
    return error instanceof VerbatimError ? error.code : error;
  } finally {
    await ledger.close();
  }
}

export async function balanceOf(place: Workplace, email: string): Promise<unknown> {
  return (await credits(place)).find((row) => row['email'] === email)?.['credits'];
}

export async function keysOf(place: Workplace, account: readonly string[]): Promise<Row[]> {
  return place.json<Row[]>(['keys', 'list', ...account, '--json']);
}

export const CREATE_KEY = ['keys', 'create', ...OF_ADA, '--name', 'laptop'];
