/** What starts slowly has a grace period: it is open without a place for a while, few at a time; in virtual time. */
import { expect } from 'chai';
import { AudioWorkers } from '../../../src/engine/speech/audio-workers.js';
import { MeasuringQueue, type Measurable } from '../../../src/engine/speech/measuring-queue.js';
import { AUDIO_WORKERS, MEASURING } from '../../../src/engine/speech/transcriber.js';
import { FakeClock } from '../fake-clock.js';

const STEP_MS = 100;
const GRACE_STEPS = 4;

interface SendOptions {
  signal?: AbortSignal;
  isCostly?: boolean;
}

class Scene {
  readonly clock = new FakeClock();
  readonly begun: string[] = [];
  readonly done: string[] = [];
  readonly failed: string[] = [];
  /** Begun when their account was demoted. */
  readonly demoted: string[] = [];
  costlyNow = 0;
  mostCostlyAtOnce = 0;
  costlySteps = 0;
  open = 0;
  mostOpen = 0;
  isPaidWorkRunning = false;
  private readonly queue = new MeasuringQueue(
    MEASURING,
    new AudioWorkers(AUDIO_WORKERS),
    this.clock,
    () => this.isPaidWorkRunning,
  );

  /** A program's work, of so many steps; a costly one fails at its end. */
  send(name: string, accountId: string, steps: number, { signal, isCostly = false }: SendOptions = {}): void {
    const open = (isDemoted: boolean): Promise<Measurable> => {
      if (isDemoted) this.demoted.push(name);
      return Promise.resolve(this.program(name, steps, isCostly));
    };
    void this.queue.run({ accountId, signal, hasGracePeriod: true, open, check: () => undefined }).then(
      ({ reader }) => {
        void reader.close();
        this.done.push(name);
      },
      () => this.failed.push(name),
    );
  }

  private program(name: string, steps: number, isCostly: boolean): Measurable {
    this.begun.push(name);
    this.mostOpen = Math.max(this.mostOpen, ++this.open);
    let had = 0;
    let ended = false;
    const end = (): void => {
      if (!ended) this.open--;
      ended = true;
    };
    return {
      get isGraceOver() {
        return had >= GRACE_STEPS;
      },
      get isCostly() {
        return isCostly && had >= GRACE_STEPS;
      },
      measure: async () => {
        had++;
        if (isCostly) this.costlySteps++;
        if (isCostly) this.mostCostlyAtOnce = Math.max(this.mostCostlyAtOnce, ++this.costlyNow);
        await this.clock.sleep(STEP_MS);
        if (isCostly) this.costlyNow--;
        if (had < steps) return null;
        end();
        if (isCostly) throw new Error('too costly');
        return 1;
      },
      close: end,
    };
  }
}

describe('Measuring: grace periods', () => {
  it('gets a clip of some steps by files without end that have every place, of its account and of others', async () => {
    for (const accountId of ['other', 'crowd0']) {
      const scene = new Scene();
      for (let n = 0; n < 40; n++) scene.send(`crowd${n % 4}/${n}`, `crowd${n % 4}`, Infinity);
      await scene.clock.run(60_000);
      const before = scene.clock.now();
      scene.send('clip', accountId, GRACE_STEPS - 1);
      await scene.clock.run(before + 40 * STEP_MS);
      expect(scene.done, accountId).to.deep.equal(['clip']);
    }
  });

  it('bounds what is open, and begins nothing a third time', async () => {
    const scene = new Scene();
    for (let n = 0; n < 40; n++) scene.send(`crowd${n % 8}/${n}`, `crowd${n % 8}`, 20);
    await scene.clock.run();
    expect(scene.done).to.have.lengthOf(40);
    expect(scene.mostOpen).to.be.within(MEASURING.open, MEASURING.open + MEASURING.inGrace);
    for (const name of scene.done)
      expect(scene.begun.filter((other) => other === name).length, name).to.be.within(1, 2);
    expect(scene.open).to.equal(0);
  });

  it('frees the grace period of a file that is given up', async () => {
    const scene = new Scene();
    const given = new AbortController();
    for (let n = 0; n < 8; n++) scene.send(`a${n}`, `a${n}`, Infinity, { signal: given.signal });
    await scene.clock.run(3 * STEP_MS);
    given.abort(new Error('given up'));
    await scene.clock.run(scene.clock.now() + 2 * STEP_MS);
    expect(scene.open).to.equal(0);
    for (let n = 0; n < 8; n++) scene.send(`b${n}`, `b${n}`, 2);
    await scene.clock.run();
    expect(scene.done).to.have.lengthOf(8);
  });

  describe('costly programs', () => {
    const COSTLY_STEPS = 100;
    /** Of four accounts, when each is known. */
    async function crowd(): Promise<Scene> {
      const scene = new Scene();
      for (let n = 0; n < 64; n++) scene.send(`costly${n}`, `crowd${n % 4}`, COSTLY_STEPS, { isCostly: true });
      await scene.clock.run(20_000);
      scene.mostCostlyAtOnce = scene.costlyNow;
      return scene;
    }

    it('share one call and half of the places', async () => {
      const scene = await crowd();
      scene.mostOpen = scene.open;
      await scene.clock.run(120_000);
      expect(scene.mostCostlyAtOnce).to.equal(MEASURING.demotedAtOnce);
      expect(scene.mostOpen).to.be.at.most(MEASURING.demotedOpen);
      expect(scene.failed).not.to.deep.equal([]);
    });

    it('leave another account the other call: its clips go on without a pause', async () => {
      const scene = await crowd();
      for (let n = 0; n < 20; n++) {
        const before = scene.clock.now();
        scene.send(`clip${n}`, 'other', GRACE_STEPS);
        await scene.clock.run(before + GRACE_STEPS * STEP_MS);
        expect(scene.done).to.have.lengthOf(n + 1);
      }
    });

    it('pause for four times as long as they ran, while paid work runs', async () => {
      const scene = new Scene();
      for (let n = 0; n < 2; n++) scene.send(`costly${n}`, `crowd${n}`, Infinity, { isCostly: true });
      await scene.clock.run(10_000);
      const stepsWithin = async (ms: number): Promise<number> => {
        const before = scene.costlySteps;
        await scene.clock.run(scene.clock.now() + ms);
        return scene.costlySteps - before;
      };
      expect(await stepsWithin(10_000)).to.equal(10_000 / STEP_MS);
      scene.isPaidWorkRunning = true;
      expect(await stepsWithin(10_000)).to.be.within(10_000 / (5 * STEP_MS), 10_000 / (5 * STEP_MS) + 1);
      scene.isPaidWorkRunning = false;
      expect(await stepsWithin(10_000)).to.be.within(10_000 / STEP_MS - 5, 10_000 / STEP_MS);
    });

    it('end all, their accounts in turn', async () => {
      const scene = await crowd();
      while (scene.failed.length < 8) await scene.clock.run(scene.clock.now() + STEP_MS);
      const accounts = scene.failed.slice(0, 8).map((name) => Number(name.slice('costly'.length)) % 4);
      expect([...new Set(accounts)].sort()).to.deep.equal([0, 1, 2, 3]);
      await scene.clock.run();
      expect(scene.failed).to.have.lengthOf(64);
      expect(scene.open).to.equal(0);
    });

    it('count against their account for a minute, and against no other', async () => {
      const scene = new Scene();
      scene.send('costly', 'crowd', COSTLY_STEPS, { isCostly: true });
      await scene.clock.run();
      const failedAt = scene.clock.now();
      for (const account of ['crowd', 'other']) scene.send(`clip of ${account}`, account, 1);
      await scene.clock.run(failedAt + 59_000);
      expect(scene.demoted).to.deep.equal(['clip of crowd']);
      await scene.clock.run(failedAt + 61_000);
      scene.send('a minute later', 'crowd', 1);
      await scene.clock.run();
      expect(scene.demoted).to.deep.equal(['clip of crowd']);
      expect(scene.done).to.deep.equal(['clip of crowd', 'clip of other', 'a minute later']);
    });
  });
});
