/**
 * The engine's process is killed under load: `npm run test:slow -- --grep 'engine kills'` (`npm run build` first).
 * ENGINE_KILLS sets how many (300), by SIGKILL, SIGSEGV and SIGSTOP in turn.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Mulberry32 } from '../support/random.js';
import { checkChargesOnce, openKilledAccount, KILLED_SECRET } from './engine-kills/charges.js';
import { KillDelays, DEADLY_SIGNALS } from './engine-kills/delays.js';
import { KINDS_OF_WORK, nameOfWork, carryOutWork, type KindOfWork, type AnsweredWork } from './engine-kills/clients.js';
import { KilledServer, type EngineKill } from './engine-kills/killed-server.js';

const KILLS = Number(process.env['ENGINE_KILLS'] ?? 300);
const CLIENTS = 16;
/** From one recovery to the next kill, at most. */
const PEACE_MS = 6000;
/** Kills between two calm stretches: the first answers come while nothing is killed, and so on in turn. */
const KILLS_IN_A_STRETCH = 5;
/** Rounds of all kinds in a calm stretch, from which delays are computed. */
const CALM_ROUNDS = 3;

describe(`${KILLS} engine kills under ${CLIENTS} clients`, function () {
  this.timeout(4 * 3600_000);
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-engine-kills-'));
  const database = join(directory, 'verbatim.db');
  const random = new Mulberry32(17);
  let server: KilledServer;
  let key: string;
  let texts: Map<string, string>;

  before(async () => {
    key = await openKilledAccount(database);
    const data = {
      VERBATIM_DATABASE: database,
      VERBATIM_DATA_DIR: directory,
      VERBATIM_SECRET: KILLED_SECRET,
    };
    server = await KilledServer.start({ ...data, VERBATIM_MAX_IN_FLIGHT: '1000' });
    texts = new Map();
    for (const kind of KINDS_OF_WORK) {
      const { status, text } = await carryOutWork(server.url, key, kind);
      expect(status, `${nameOfWork(kind)}: ${text}`).to.equal(200);
      texts.set(nameOfWork(kind), text);
    }
  });
  after(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('are noticed by nobody but by time', async () => {
    const calm: AnsweredWork[] = [];
    const outcomes: AnsweredWork[] = [];
    const kills: EngineKill[] = [];
    while (kills.length < KILLS) {
      await server.calm();
      calm.push(...(await underLoad(CALM_ROUNDS * KINDS_OF_WORK.length)));
      const stop = { done: false };
      const clients = load(() => (stop.done ? undefined : random.pick(KINDS_OF_WORK)));
      await strikeAgainAndAgain(kills);
      stop.done = true;
      outcomes.push(...(await clients));
    }
    const all = [...calm, ...outcomes];
    const delays = new KillDelays(calm, kills, server.log);
    process.stdout.write(
      delays
        .report(outcomes)
        .map((line) => `      ${line}\n`)
        .join(''),
    );
    for (const outcome of all) {
      expect(outcome.status, `${nameOfWork(outcome)}: ${outcome.text}`).to.equal(200);
      expect(outcome.text, nameOfWork(outcome)).to.equal(texts.get(nameOfWork(outcome)));
    }
    await checkChargesOnce(database, [...all.map(({ requestId }) => requestId)], KINDS_OF_WORK.length);
    expect(server.log.filter(({ msg }) => String(msg).includes('and is refused'))).to.deep.equal([]);
    expect(delays.addedMs(outcomes), 'the p99 of the delays added to restarts').to.be.at.most(delays.mostMs);
  });

  async function strikeAgainAndAgain(kills: EngineKill[]): Promise<void> {
    const most = Math.min(KILLS, kills.length + KILLS_IN_A_STRETCH);
    while (kills.length < most) {
      await server.calm();
      await sleep(random.next() * PEACE_MS);
      kills.push(await server.kill(DEADLY_SIGNALS[kills.length % DEADLY_SIGNALS.length]!));
    }
  }

  function underLoad(count: number): Promise<AnsweredWork[]> {
    let next = 0;
    return load(() => (next < count ? KINDS_OF_WORK[next++ % KINDS_OF_WORK.length] : undefined));
  }

  async function load(next: () => KindOfWork | undefined): Promise<AnsweredWork[]> {
    const outcomes: AnsweredWork[] = [];
    const client = async (): Promise<void> => {
      for (let kind = next(); kind !== undefined; kind = next())
        outcomes.push(await carryOutWork(server.url, key, kind));
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    return outcomes;
  }
});
