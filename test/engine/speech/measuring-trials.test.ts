/** What starts slowly is on trial first: open without a place for a while, and few at a time; in virtual time. */
import { expect } from 'chai';
import { AudioWorkers } from '../../../src/engine/speech/audio-workers.js';
import { MeasuringQueue, type Measurable } from '../../../src/engine/speech/measuring-queue.js';
import { AUDIO_WORKERS, MEASURING } from '../../../src/engine/speech/transcriber.js';
import { FakeClock } from '../fake-clock.js';

const STEP_MS = 100;
const TRIAL_STEPS = 4;

class Scene {
  readonly clock = new FakeClock();
  readonly begun: string[] = [];
  readonly done: string[] = [];
  open = 0;
  mostOpen = 0;
  private readonly queue = new MeasuringQueue(MEASURING, new AudioWorkers(AUDIO_WORKERS), this.clock);

  /** A program's work, of so many steps. */
  send(name: string, accountId: string, steps: number, signal?: AbortSignal): void {
    const open = (): Promise<Measurable> => Promise.resolve(this.program(name, steps));
    void this.queue.run({ accountId, signal, hasTrial: true, open, check: () => undefined }).then(
      ({ reader }) => {
        reader.close();
        this.done.push(name);
      },
      () => undefined,
    );
  }

  private program(name: string, steps: number): Measurable {
    this.begun.push(name);
    this.mostOpen = Math.max(this.mostOpen, ++this.open);
    let had = 0;
    let ended = false;
    const end = (): void => {
      if (!ended) this.open--;
      ended = true;
    };
    return {
      get isTried() {
        return had >= TRIAL_STEPS;
      },
      measure: async () => {
        had++;
        await this.clock.sleep(STEP_MS);
        if (had < steps) return null;
        end();
        return 1;
      },
      close: end,
    };
  }
}

describe('Measuring: trials', () => {
  it('gets a clip of some steps by files without end that have every place, of its account and of others', async () => {
    for (const accountId of ['other', 'crowd0']) {
      const scene = new Scene();
      for (let n = 0; n < 40; n++) scene.send(`crowd${n % 4}/${n}`, `crowd${n % 4}`, Infinity);
      await scene.clock.run(60_000);
      const before = scene.clock.now();
      scene.send('clip', accountId, TRIAL_STEPS - 1);
      await scene.clock.run(before + 40 * STEP_MS);
      expect(scene.done, accountId).to.deep.equal(['clip']);
    }
  });

  it('bounds what is open, and begins nothing a third time', async () => {
    const scene = new Scene();
    for (let n = 0; n < 40; n++) scene.send(`crowd${n % 8}/${n}`, `crowd${n % 8}`, 20);
    await scene.clock.run();
    expect(scene.done).to.have.lengthOf(40);
    expect(scene.mostOpen).to.be.within(MEASURING.open, MEASURING.open + MEASURING.onTrial);
    for (const name of scene.done)
      expect(scene.begun.filter((other) => other === name).length, name).to.be.within(1, 2);
    expect(scene.open).to.equal(0);
  });

  it('gives a trial back that is given up', async () => {
    const scene = new Scene();
    const given = new AbortController();
    for (let n = 0; n < 8; n++) scene.send(`a${n}`, `a${n}`, Infinity, given.signal);
    await scene.clock.run(3 * STEP_MS);
    given.abort(new Error('given up'));
    await scene.clock.run(scene.clock.now() + 2 * STEP_MS);
    expect(scene.open).to.equal(0);
    for (let n = 0; n < 8; n++) scene.send(`b${n}`, `b${n}`, 2);
    await scene.clock.run();
    expect(scene.done).to.have.lengthOf(8);
  });
});
