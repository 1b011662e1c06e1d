/**
 * The first hour of a new installation: `verbatim serve` finds its model at a hub of this machine, which has models of
 * the published sizes, under load and in all that may go wrong. Each test prints what the server said. As root.
 */
import { loadavg } from 'node:os';
import { expect } from 'chai';
import { fastEnough, LEAST_SPEED } from '../../src/models/automatic-model.js';
import { sample } from '../support/speech.js';
import { until } from '../support/until.js';
import { ClientLoad } from './first-hour/load.js';
import { MemoryGroup } from './first-hour/memory-group.js';
import { NewInstallation, WATCHDOG_MS, type NewInstallationOptions } from './first-hour/new-installation.js';
import { PublishedHub, TURBO } from './first-hour/published-hub.js';

const STARTS = 5;
/** Of either model, at least. */
const ANSWERS = 100;
const CREDITS = 1_000_000;
const MIB = 2 ** 20;
const GIB = 2 ** 30;
const BASE = 'base-q8_0';
/** Of a machine that carries base and nothing larger. */
const BASE_ALONE = { [BASE]: 20, 'small-q8_0': 1 };

describe('The first hour of a new installation', () => {
  let hub: PublishedHub;
  let installations: NewInstallation[];

  before(async () => {
    hub = await PublishedHub.start();
  });
  beforeEach(() => {
    installations = [];
    hub.starts.length = 0;
  });
  afterEach(async () => {
    hub.release();
    await stop();
  });
  after(() => hub.close());

  async function stop(): Promise<void> {
    for (const installation of installations.splice(0)) await installation.stop();
  }

  function start(options?: NewInstallationOptions): NewInstallation {
    const installation = new NewInstallation(hub, options);
    installations.push(installation);
    return installation;
  }

  async function startOnce(auto: 'off' | 'on'): Promise<Start> {
    const before = performance.now();
    const installation = new NewInstallation(hub, { environment: { VERBATIM_AUTO_MODEL: auto === 'on' ? '' : 'off' } });
    const { served } = installation;
    try {
      await served.listening();
      const listening = performance.now() - before;
      await installation.expectDemonstration();
      return { listening, answered: performance.now() - before };
    } finally {
      await served.stop();
    }
  }

  it('begins as soon as one that looks for no model', async () => {
    const starts: Record<'off' | 'on', Start[]> = { off: [], on: [] };
    for (let number = 0; number < STARTS; number += 1)
      for (const auto of ['off', 'on'] as const) starts[auto].push(await startOnce(auto));
    const [off, on] = [medians(starts.off), medians(starts.on)];
    console.log(`      medians of ${STARTS} starts, ms: off ${JSON.stringify(off)}, on ${JSON.stringify(on)}`);
    console.log(`      load: ${loadavg()[0]!.toFixed(1)}`);
    for (const name of ['listening', 'answered'] as const) expect(on[name]).to.be.below(2 * off[name] + 1000);
  });

  it('is measured, and gets the best model that the machine carries', async () => {
    const installation = start();
    await until(() => installation.speeds !== null, 'the speeds are kept', WATCHDOG_MS);
    console.log(`      times real time: ${JSON.stringify(installation.speeds)}, load: ${loadavg()[0]!.toFixed(1)}`);
    const carried = fastEnough(installation.speeds!).map(({ model }) => model);
    // Of one the hub has nothing but the size.
    const best = carried.find((model) => model !== TURBO)!;
    await installation.serves(best);
    const text = await installation.textOf(sample('en-wav16.wav').path);
    console.log(`      the printed curl line, with another recording: "${text.slice(0, 60)}"`);
    expect(text).not.to.equal('');
    expect(hub.starts).to.deep.equal(carried.slice(0, carried.indexOf(best) + 1).map((model) => ({ model, byte: 0 })));
  });

  it('gets base under load without a failed request, each charged once', async () => {
    const installation = start({ speeds: BASE_ALONE });
    const { served } = installation;
    hub.holdAt(8 * MIB);
    await installation.phase('downloading');
    const granted = ['credits', 'grant', '--account', 'local@localhost', '--amount', String(CREDITS)];
    expect(await installation.command(...granted)).to.include({ status: 0 });
    const key = await served.key();
    const before = await balance(served.url, key);
    const load = new ClientLoad(served, key);
    await until(() => load.answers.demonstration >= ANSWERS);
    hub.release();
    await until(() => load.answers.other >= ANSWERS, 'base answers', WATCHDOG_MS);
    await load.end();
    const { demonstration, other } = load.answers;
    console.log(
      `      answers: ${demonstration} of the demonstration model, ${other} of ${BASE}; load: ${loadavg()[0]!.toFixed(1)}`,
    );
    expect(load.failures).to.deep.equal([]);
    expect(load.credits).to.equal(demonstration + other);
    expect(before - (await balance(served.url, key))).to.equal(load.credits);
    expect((await installation.command('accounts', 'audit')).stdout).to.equal('the ledger balances\n');
    expect(await installation.readiness()).to.deep.include({ model: BASE, next_model: null });
  });

  it('goes on with the next smaller model where one is no model', async () => {
    const installation = start({ speeds: { ...BASE_ALONE, [TURBO]: 4 } });
    await installation.serves(BASE);
    expect(hub.starts.map(({ model }) => model)).to.deep.equal([TURBO, BASE]);
    const [refusal] = installation.logged('the downloaded model was not put into service');
    expect(refusal).to.include({ model: TURBO });
    expect(refusal!.problem).not.to.equal('');
    expect(installation.served.stdout)
      .to.contain(`Fetching ${TURBO}, 874 MB, `)
      .and.contain(`Fetching ${BASE}, 82 MB, `);
  });

  describe('in a control group', () => {
    let group: MemoryGroup;

    beforeEach(() => {
      group = new MemoryGroup(GIB);
    });
    afterEach(async () => {
      const peak = `${Math.round(group.peakBytes / MIB)} MiB with the page cache, ${group.kills} killed`;
      console.log(`      version ${group.version}; at most ${peak}`);
      await stop();
      group.remove();
    });

    it('of 1 GiB, it gets the best model that finds memory, of those that are fast enough', async () => {
      const speeds = { [BASE]: 20, 'small-q8_0': 7, [TURBO]: 4 };
      const installation = start({ speeds, within: () => group.within });
      expect(await installation.servesAny()).to.be.oneOf([BASE, 'small-q8_0']);
      expect(installation.logged('not enough free memory').map(({ model }) => model)).to.include(TURBO);
      expect(hub.starts.map(({ model }) => model)).not.to.include(TURBO);
      expect(group.kills).to.equal(0);
    });

    it('of 1 GiB, it is measured in it', async () => {
      const installation = start({ within: () => group.within });
      const model = await installation.servesAny();
      console.log(`      times real time: ${JSON.stringify(installation.speeds)}, load: ${loadavg()[0]!.toFixed(1)}`);
      expect(installation.speeds).to.have.property(model).at.least(LEAST_SPEED);
      expect(installation.speeds).not.to.have.property(TURBO);
      expect(group.kills).to.equal(0);
    });

    it('of less than a model takes, it says so, and is measured an hour after there is more', async () => {
      group.limit(400 * MIB);
      const installation = start({ within: () => group.within });
      await installation.phase('waiting');
      await installation.expectDemonstration();
      await installation.hourPasses();
      expect(installation.logged('not enough free memory')).to.have.length(1);
      group.limit(GIB);
      await installation.hourPasses();
      await installation.servesAny();
      expect(group.kills).to.equal(0);
    });
  });
});

interface Start {
  listening: number;
  answered: number;
}

const medians = (starts: readonly Start[]): Start => ({
  listening: Math.round(median(starts.map(({ listening }) => listening))),
  answered: Math.round(median(starts.map(({ answered }) => answered))),
});

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;
}

async function balance(url: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { credits: { balance: number } }).credits.balance;
}
