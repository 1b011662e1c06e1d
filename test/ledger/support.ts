import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createLedger, openLedger, type LedgerOptions } from '../../src/ledger/sqlite/ledger.js';
import type { Account, IssuedKey, Ledger, Settlement } from '../../src/ledger/types.js';
import { ManualTimers } from '../support/manual-timers.js';

export const ENDPOINT = '/api/v1/transcribe';
export const SECRET = 'a secret for the tests';

/** Real ledgers on a real file in a directory of their own, with a clock and timers that the test turns. */
export class Bench {
  readonly directory: string;
  readonly path: string;
  now = Date.UTC(2026, 0, 15, 12);
  readonly timers = new ManualTimers();
  readonly #ledgers: Ledger[] = [];

  constructor(parent = tmpdir()) {
    this.directory = mkdtempSync(join(parent, 'verbatim-ledger-'));
    this.path = join(this.directory, 'verbatim.db');
  }

  server(options: Partial<LedgerOptions> = {}): Ledger {
    return this.#keep(createLedger({ ...this.#defaults(), ...options }));
  }

  cli(options: Partial<LedgerOptions> = {}): Ledger {
    return this.#keep(openLedger({ ...this.#defaults(), ...options }));
  }

  /** A plain connection, to look at or tamper with what the ledger wrote. */
  raw<T>(work: (database: Database.Database) => T, path = this.path): T {
    const database = new Database(path);
    try {
      return work(database);
    } finally {
      database.close();
    }
  }

  async dispose(): Promise<void> {
    for (const ledger of this.#ledgers) await ledger.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  #defaults(): LedgerOptions {
    return { path: this.path, secret: SECRET, clock: () => this.now, timers: this.timers };
  }

  #keep(ledger: Ledger): Ledger {
    this.#ledgers.push(ledger);
    return ledger;
  }
}

export interface KeyHolder {
  account: Account;
  key: IssuedKey;
}

export interface Books {
  bench: Bench;
  ledger: Ledger;
  ann: KeyHolder;
}

/** Within a describe(): a server's ledger and a customer for each test; the books must balance after each. */
export function useBooks(credits: number, give: (books: Books) => void): void {
  let bench: Bench;
  let ledger: Ledger;

  beforeEach(async () => {
    bench = new Bench();
    ledger = bench.server();
    give({ bench, ledger, ann: await customer(ledger, 'ann@example.com', credits) });
  });
  afterEach(async () => {
    expect(await ledger.audit()).to.deep.equal([]);
    await bench.dispose();
  });
}

export async function customer(ledger: Ledger, email = 'ann@example.com', credits = 0): Promise<KeyHolder> {
  const account = await ledger.createAccount({ email });
  if (credits > 0) await ledger.grantCredits({ accountId: account.id, amount: credits });
  return { account, key: await ledger.createKey({ accountId: account.id, name: 'test', scopes: [] }) };
}

export async function hold(ledger: Ledger, { account, key }: KeyHolder, credits: number): Promise<string> {
  return (await ledger.hold({ accountId: account.id, keyId: key.id, requestId: 'req_1', credits })).id;
}

export function settlement(credits: number, overrides: Partial<Settlement> = {}): Settlement {
  return {
    credits,
    endpoint: ENDPOINT,
    audioSeconds: credits * 60,
    minutes: credits,
    requestId: 'req_1',
    transcriptionId: 'tr_1',
    language: 'en',
    result: { text: 'hello' },
    ...overrides,
  };
}

/** Lets a server's ledgers keep house once. */
export function keepHouse({ timers }: Bench): void {
  timers.pass(5000);
}

/** What `work` throws or rejects with. */
export async function refusal(work: () => unknown): Promise<Error> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

/** The code of the VerbatimError that `work` rejects with. */
export async function codeOf(work: () => unknown): Promise<string> {
  const error = await refusal(work);
  if ('code' in error) return String(error.code);
  throw error;
}
