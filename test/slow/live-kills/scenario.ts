/** Live sessions of a server whose engine's process is killed, beside the same sessions without kills. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { openLedger } from '../../../src/ledger/sqlite/ledger.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { Mulberry32 } from '../../support/random.js';
import { KilledServer } from '../engine-kills/killed-server.js';
import { speak, type SpokenOutcome } from './clients.js';
import type { Speaker } from './speakers.js';

const SECRET = 'a secret for live sessions';
const CREDITS = 1000;
/** Between a process that serves and its end, at most. */
const PEACE_MS = 2500;
/** A process that stands still for so long before its end has work that it will not do. */
const STOPPED_MS = 400;

export interface Round {
  outcomes: SpokenOutcome[];
  kills: number;
}

export class KilledSessions {
  readonly #sent = new Map<string, number>();

  private constructor(
    private readonly directory: string,
    private readonly database: string,
    private readonly keys: readonly { rawKey: string; accountId: string }[],
    private readonly server: KilledServer,
    private readonly random: Mulberry32,
  ) {}

  /** `accounts`: as many as sessions at once. */
  static async start(accounts: number, random: Mulberry32): Promise<KilledSessions> {
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-live-kills-'));
    const database = join(directory, 'verbatim.db');
    const keys = await onLedger(database, (ledger) => makeAccounts(ledger, accounts));
    const server = await KilledServer.start({
      ...{ VERBATIM_DATABASE: database, VERBATIM_DATA_DIR: directory, VERBATIM_SECRET: SECRET },
      // The same text on every processor.
      ...{ VERBATIM_AUTO_MODEL: 'off', VERBATIM_ACCEL: 'off', VERBATIM_SLOTS: '2', VERBATIM_THREADS: '1' },
    });
    return new KilledSessions(directory, database, keys, server, random);
  }

  /** All speakers at once, as fast as the server takes it. */
  calmly(speakers: readonly Speaker[]): Promise<SpokenOutcome[]> {
    return this.#speak(speakers, () => false);
  }

  /** The same, with so many kills meanwhile, or fewer where all have ended before. */
  async killed(speakers: readonly Speaker[], kills: number): Promise<Round> {
    const state = { isOver: false };
    // What a client sends decides where its turns end; the others speak as people do.
    const sessions = this.#speak(speakers, ({ kind }) => kind === 'openai commits' || kind === 'deepgram flushes');
    const ended = sessions.finally(() => (state.isOver = true));
    ended.catch(() => undefined);
    let done = 0;
    for (; done < kills && !state.isOver; done++) {
      await this.server.calm();
      await sleep(this.random.next() * PEACE_MS);
      await this.server.kill('SIGKILL', done % 2 === 0 ? STOPPED_MS : 0);
    }
    return { outcomes: await ended, kills: done };
  }

  /** Deaths of the engine with work of sessions in it. */
  get deathsAmidWork(): number {
    return this.server.log.filter(({ requestIds }) => Array.isArray(requestIds) && requestIds.length > 0).length;
  }

  /** Every started minute was charged once, and nothing is held. */
  async checkCharges(): Promise<void> {
    await this.server.stop();
    await onLedger(this.database, async (ledger) => {
      expect(await ledger.audit()).to.deep.equal([]);
      for (const { accountId } of this.keys) {
        const { balance } = await ledger.credits.balance(accountId);
        expect(CREDITS - balance, 'credits charged or held').to.equal(this.#sent.get(accountId) ?? 0);
      }
    });
  }

  async stop(): Promise<void> {
    await this.server.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  #speak(speakers: readonly Speaker[], isPaced: (speaker: Speaker) => boolean): Promise<SpokenOutcome[]> {
    return Promise.all(
      speakers.map(async (speaker, index) => {
        const { rawKey: key, accountId } = this.keys[index]!;
        const outcome = await speak(speaker, { url: this.server.url, key, isPaced: isPaced(speaker) });
        this.#sent.set(accountId, (this.#sent.get(accountId) ?? 0) + Math.ceil(outcome.seconds / 60));
        return outcome;
      }),
    );
  }
}

/** No session ended, and what each said is what it said without kills: no word is lost or doubled. */
export function expectSame(
  calm: readonly SpokenOutcome[],
  killed: readonly SpokenOutcome[],
  speakers: readonly Speaker[],
): void {
  for (const [index, { texts, problems }] of killed.entries()) {
    const { kind, language } = speakers[index]!;
    const what = `${kind}, ${language}`;
    expect(calm[index]!.problems, `${what}, without kills`).to.deep.equal([]);
    expect(calm[index]!.texts.join(' ').length, what).to.be.above(10);
    expect(problems, what).to.deep.equal([]);
    expect(texts, what).to.deep.equal(calm[index]!.texts);
  }
}

async function onLedger<T>(path: string, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = openLedger({ path, secret: SECRET });
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}

async function makeAccounts(ledger: Ledger, count: number): Promise<{ rawKey: string; accountId: string }[]> {
  const keys = [];
  for (let index = 0; index < count; index++) {
    const { id: accountId } = await ledger.accounts.create({ email: `speaker${index}@example.com` });
    await ledger.credits.grant({ accountId, amount: CREDITS });
    const { rawKey } = await ledger.keys.create({ accountId, name: 'client', scopes: [] });
    keys.push({ rawKey, accountId });
  }
  return keys;
}
