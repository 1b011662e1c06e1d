import { expect } from 'chai';
import { Database } from '../../src/ledger/sqlite/driver.js';
import type { Account, IssuedKey, Settlement } from '../../src/ledger/types.js';
import type { JobSettlement } from '../../src/ledger/jobs.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { systemTimers, type Timers } from '../../src/timers.js';
import { ManualTimers } from '../support/manual-timers.js';
import {
  administrationAt,
  idle,
  POSTGRESQL,
  serverAt,
  SQLITE,
  SqlitePlace,
  type Backend,
  type LedgerSettings,
  type Place,
} from './backends.js';

export const ENDPOINT = '/api/v1/transcribe';
export const SECRET = 'a secret for the tests';

/** Real ledgers on a database of their own, with a clock and timers that the test turns. */
export class Bench {
  now = Date.UTC(2026, 0, 15, 12);
  readonly timers = new ManualTimers();
  readonly #ledgers: Ledger[] = [];
  #place: Promise<Place> | null = null;

  constructor(
    private readonly backend: Backend = SQLITE,
    private readonly parent?: string,
  ) {}

  /** Where the ledger is: created at its first use. */
  place(): Promise<Place> {
    return (this.#place ??= this.backend.place(this.parent));
  }

  async server(options: LedgerSettings & { address?: string } = {}): Promise<Ledger> {
    const { address = (await this.place()).address, ...more } = options;
    return this.#keep(await serverAt(address, { ...this.#defaults(), ...more }));
  }

  async cli(options: LedgerSettings & { address?: string } = {}): Promise<Ledger> {
    const { address = (await this.place()).address, ...more } = options;
    return this.#keep(await administrationAt(address, { ...this.#defaults(), ...more }));
  }

  /** What the ledger wrote, asked for in SQL that both databases know. */
  async rows<R>(sql: string): Promise<R[]> {
    return (await this.place()).rows<R>(sql);
  }

  /** Lets the ledgers keep house once. */
  async runHousekeeping(): Promise<void> {
    this.timers.pass(5000);
    for (const ledger of this.#ledgers) await idle(ledger);
  }

  /** So much time that servers which died are known to be dead. */
  async releaseDead(): Promise<void> {
    if (this.backend !== POSTGRESQL) return;
    for (let n = 0; n < 2; n++) {
      this.now += 20_000;
      await this.runHousekeeping();
    }
  }

  async dispose(): Promise<void> {
    for (const ledger of this.#ledgers) await ledger.close();
    await (await this.#place)?.remove();
  }

  #defaults(): LedgerSettings {
    const timers = this.backend === POSTGRESQL ? this.#networkTimers() : this.timers;
    return { secret: SECRET, clock: () => this.now, timers };
  }

  /** Pauses before a repeat are real, as the network is. */
  #networkTimers(): Timers {
    return {
      after: (milliseconds, run) => systemTimers.after(milliseconds, run),
      every: (milliseconds, run) => this.timers.every(milliseconds, run),
      now: () => systemTimers.now(),
    };
  }

  #keep(ledger: Ledger): Ledger {
    this.#ledgers.push(ledger);
    return ledger;
  }
}

/** On SQLite, with its file at hand. */
export class FileBench extends Bench {
  readonly directory: string;
  readonly path: string;

  constructor(parent?: string) {
    const place = new SqlitePlace(parent);
    super({ ...SQLITE, place: () => Promise.resolve(place) });
    this.directory = place.directory;
    this.path = place.address;
    void this.place();
  }

  /** A plain connection, to look at or tamper with what the ledger wrote. */
  raw<T>(work: (database: Database) => T, path = this.path): T {
    const database = new Database(path);
    try {
      return work(database);
    } finally {
      database.close();
    }
  }
}

export interface KeyHolder {
  account: Account;
  key: IssuedKey;
}

export interface LedgerFixture {
  bench: Bench;
  ledger: Ledger;
  ann: KeyHolder;
}

/** Within a describe(): a server's ledger and a customer for each test; the ledger must balance after each. */
export function useLedger(credits: number, give: (fixture: LedgerFixture) => void, backend: Backend = SQLITE): void {
  let bench: Bench;
  let ledger: Ledger;

  beforeEach(async () => {
    bench = new Bench(backend);
    ledger = await bench.server();
    give({ bench, ledger, ann: await customer(ledger, 'ann@example.com', credits) });
  });
  afterEach(async () => {
    expect(await ledger.audit()).to.deep.equal([]);
    await bench.dispose();
  });
}

export async function customer(ledger: Ledger, email = 'ann@example.com', credits = 0): Promise<KeyHolder> {
  const account = await ledger.accounts.create({ email });
  if (credits > 0) await ledger.credits.grant({ accountId: account.id, amount: credits });
  return { account, key: await ledger.keys.create({ accountId: account.id, name: 'test', scopes: [] }) };
}

export async function hold(
  ledger: Ledger,
  { account, key }: KeyHolder,
  credits: number,
  limit: { mostInFlight?: number; fileName?: string } = {},
): Promise<string> {
  const request = { accountId: account.id, keyId: key.id, requestId: 'req_1', credits };
  return (await ledger.holds.place({ ...request, ...limit })).id;
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
    model: 'base',
    result: { text: 'hello' },
    ...overrides,
  };
}

/** Of a job's work, which takes a minute. */
export function jobSettlement(credits = 2): JobSettlement {
  const { audioSeconds, minutes, transcriptionId, language, model, result } = settlement(credits);
  return { credits, endpoint: '/api/v1/jobs', audioSeconds, minutes, transcriptionId, language, model, result };
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
