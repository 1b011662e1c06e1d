/** Who is measured when, and how many files are open at that: counted in steps and decoders, never in time. */
import { expect } from 'chai';
import { MEASURING } from '../../../src/engine/speech/transcriber.js';
import { Mulberry32 } from '../../support/random.js';
import { SEED } from '../../support/seed.js';
import { Scenario } from './scenario.js';

const CLIP = { seconds: 3, measureSteps: 1 };
const HOURS = { seconds: 13_800, measureSteps: 500 };

/** What measuring may have open: the files that keep a place, and those whose first step runs. */
const MOST_DECODERS = MEASURING.open + MEASURING.atOnce;

/** A scene whose files are measured and then refused, so that every decoder that is open measures. */
class Measuring {
  readonly ended: string[] = [];

  private constructor(readonly scene: Scenario) {}

  static async start(): Promise<Measuring> {
    return new Measuring(await Scenario.start({}, { measureMs: 20 }));
  }

  send(path: string, accountId: string, file: { seconds: number; measureSteps: number }, more = {}): void {
    this.scene.file(path, file);
    const request = { path, accountId, ...more };
    void this.scene.measure(request).then(() => this.ended.push(path));
  }

  sendMany(count: number, accountId: string, file: { seconds: number; measureSteps: number }): void {
    for (let n = 0; n < count; n++) this.send(`${accountId}/${n}`, accountId, file);
  }

  get steps(): readonly string[] {
    return this.scene.fake.measureSteps;
  }

  stepsOf(accountId: string): number {
    return this.steps.filter((path) => path.startsWith(accountId)).length;
  }
}

describe('Measuring', () => {
  it('lets a clip of another account wait for one step of each call, however many long files wait', async () => {
    for (const accounts of [1, 4]) {
      const { scene, ...test } = await startCrowd(accounts);
      const before = test.measuring.steps.length;
      test.measuring.send('clip', 'other', CLIP);
      const turn = (): number => test.measuring.steps.indexOf('clip') - before;
      while (!test.measuring.ended.includes('clip')) await scene.clock.run(scene.clock.now() + 20);
      expect(turn(), `${accounts} accounts`).to.be.within(0, MEASURING.atOnce);
    }
  });

  async function startCrowd(accounts: number): Promise<{ scene: Scenario; measuring: Measuring }> {
    const measuring = await Measuring.start();
    for (let n = 0; n < accounts; n++) measuring.sendMany(64, `greedy${n}`, HOURS);
    await measuring.scene.clock.run(20_000);
    return { scene: measuring.scene, measuring };
  }

  it('lets a clip wait for no long file of its own account either', async () => {
    const { scene, measuring } = await startCrowd(1);
    const before = measuring.steps.length;
    measuring.send('clip', 'greedy0', CLIP);
    await scene.clock.run(scene.clock.now() + 1000);
    expect(measuring.steps.indexOf('clip') - before).to.be.within(0, MEASURING.atOnce);
  });

  it('gives an account with one file the steps of one with a hundred', async () => {
    const measuring = await Measuring.start();
    measuring.sendMany(100, 'many', HOURS);
    await measuring.scene.clock.run(5000);
    measuring.send('few/0', 'few', HOURS);
    const [many, few] = [measuring.stepsOf('many'), measuring.stepsOf('few')];
    await measuring.scene.clock.run(9000);
    expect(measuring.stepsOf('few') - few).to.be.closeTo(measuring.stepsOf('many') - many, 2);
  });

  it('bounds the decoders that are open, of an account and in all', async () => {
    for (const [accounts, most] of [
      [1, MEASURING.openPerAccount + MEASURING.atOnce],
      [4, MOST_DECODERS],
      [40, MOST_DECODERS],
    ] as const) {
      const { scene } = await startCrowd(accounts);
      expect(scene.fake.openDecodersPeak, `${accounts} accounts`).to.be.at.most(most);
      expect(scene.fake.openReaders).to.equal(scene.fake.openDecoders);
    }
  });

  it('begins a file again once at most, and ends with all of them', async () => {
    const measuring = await Measuring.start();
    const file = { seconds: 600, measureSteps: 10 };
    for (const account of ['a', 'b', 'c']) measuring.sendMany(20, account, file);
    await measuring.scene.finish();
    expect(measuring.ended).to.have.lengthOf(60);
    for (const path of measuring.ended) {
      expect(measuring.steps.filter((step) => step === path).length, path).to.be.within(10, 11);
    }
    expect(measuring.scene.fake).to.include({ openReaders: 0, openDecoders: 0 });
  });

  it('stops where no more can be paid for', async () => {
    const measuring = await Measuring.start();
    for (let n = 0; n < 64; n++) measuring.send(`poor/${n}`, 'poor', HOURS, { payableSeconds: 60 });
    await measuring.scene.finish();
    // 27.6 s a step: the third is beyond the minute; one more where a file was begun again.
    expect(measuring.stepsOf('poor')).to.be.at.most(64 * 4);
    expect(measuring.scene.fake.openReaders).to.equal(0);
  });

  it('refuses more samples than stereo of the longest audio at 96 kHz has, and says so', async () => {
    const scene = await Scenario.start();
    const rates = { within: 192_000, beyond: 192_001, many: 8 * 384_000 };
    for (const [path, samplesPerSecond] of Object.entries(rates)) {
      scene.file(path, { seconds: 3600, measureSteps: 100, samplesPerSecond });
      void scene.send({ path, maxSeconds: 3600 });
    }
    await scene.finish();
    expect(scene.transcript('within').durationSeconds).to.equal(3600);
    for (const path of ['beyond', 'many']) {
      const { error } = scene.outcome(path);
      expect(error, path).to.include({ code: 'audio_too_long', param: 'audio' });
      expect((error as Error).message).to.match(/691200000 samples over all channels.*fewer channels/);
    }
    expect(scene.fake.measureSteps.filter((path) => path === 'many').length).to.be.below(10);
  });

  it('lets go at once of a file whose client leaves while it waits, and gives its place to the next', async () => {
    const { scene, measuring } = await startCrowd(1);
    const left = new AbortController();
    measuring.send('waiting', 'greedy0', HOURS, { signal: left.signal });
    await scene.clock.run(scene.clock.now() + 200);
    const steps = measuring.steps.length;
    const now = scene.clock.now();
    const gone = new Error('gone');
    left.abort(gone);
    await scene.clock.run(now);
    expect(scene.outcome('waiting')).to.include({ error: gone, endMs: now });
    await scene.clock.run(now + 200);
    expect(measuring.steps.length).to.be.above(steps);
  });

  it('leaves nothing open whatever comes: random files, accounts, aborts and errors', async () => {
    for (let seed = SEED; seed < SEED + 30; seed++) {
      const random = new Mulberry32(seed);
      const measuring = await Measuring.start();
      for (let n = 0; n < 60; n++) {
        const leaving = new AbortController();
        const file = { seconds: 1 + random.below(5000), measureSteps: 1 + random.below(12) };
        const broken = random.next() < 0.1 ? { openError: 'invalid_audio' as const } : {};
        const at = random.below(3000);
        measuring.scene.clock.after(at, () =>
          measuring.send(`file${n}`, `account${random.below(9)}`, { ...file, ...broken }, { signal: leaving.signal }),
        );
        if (random.next() < 0.3) measuring.scene.clock.after(at + random.below(500), () => leaving.abort());
      }
      await measuring.scene.finish();
      expect(measuring.ended, `seed ${seed}`).to.have.lengthOf(60);
      expect(measuring.scene.fake, `seed ${seed}`).to.include({ openReaders: 0, openDecoders: 0 });
      expect(measuring.scene.fake.openDecodersPeak).to.be.at.most(MOST_DECODERS);
    }
  });
});
