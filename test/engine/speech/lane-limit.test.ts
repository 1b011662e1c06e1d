/** How many lanes, or slots, an engine works on when it is told; on the real addon. */
import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LocalSpeechEngine } from '../../../src/engine/speech/transcriber.js';
import { loadRealEngine, transcribeWith } from '../../support/real-engine.js';
import { sample } from '../../support/speech.js';
import { until } from '../../support/until.js';

const clip = sample('es-vbr.mp3');
const CLIPS = 6;

for (const decoder of ['batched', 'whisper.cpp'] as const) {
  describe(`The lanes of an engine, ${decoder}`, () => {
    let engine: LocalSpeechEngine;
    let begun: number;
    before(async () => {
      engine = await loadRealEngine({ slots: 2, decoder, observer: { windowDone: () => (begun += 1) } });
    });
    beforeEach(() => (begun = 0));
    after(() => engine.close());

    const texts = (): Promise<string>[] =>
      Array.from({ length: CLIPS }, async (_, n) => {
        const { text } = await transcribeWith(engine, clip.path, { accountId: `account${n}`, language: 'es' });
        return text;
      });
    /** Looks at every turn of the event loop until the work has ended. */
    const mostBusyDuring = async (work: Promise<unknown>): Promise<number> => {
      let most = 0;
      let hasEnded = false as boolean;
      void work.finally(() => (hasEnded = true));
      while (!hasEnded) {
        most = Math.max(most, engine.stats().busySlots);
        await nextTurn();
      }
      return most;
    };

    it('are as many as it may have, and the text is the same', async () => {
      for (const lanes of [1, 2]) {
        await engine.limitLanes(lanes);
        const work = Promise.all(texts());
        expect(await mostBusyDuring(work)).to.equal(lanes);
        expect(await work).to.deep.equal(Array<string>(CLIPS).fill(clip.text));
      }
    });

    it('are let go of when it may have none, and work waits until it may have some', async () => {
      const work = texts();
      await until(() => engine.stats().busySlots > 0);
      await engine.limitLanes(0);
      expect(engine.stats().busySlots).to.equal(0);
      await until(() => engine.stats().queuedWindows > 0);
      const before = begun;
      for (let turn = 0; turn < 100; turn++) await nextTurn();
      expect(engine.stats().busySlots).to.equal(0);
      expect(begun).to.equal(before);
      await engine.limitLanes(1);
      expect(await Promise.all(work)).to.deep.equal(Array<string>(CLIPS).fill(clip.text));
      await engine.limitLanes(Infinity);
    });

    it('are not needed for a request that is aborted to let go of what it holds', async () => {
      const abort = new AbortController();
      const aborted = transcribeWith(engine, clip.path, { language: 'es', signal: abort.signal }).catch(
        () => 'aborted',
      );
      await until(() => engine.stats().windowsInFlight > 0);
      const limited = engine.limitLanes(0);
      abort.abort();
      await limited;
      expect(await aborted).to.equal('aborted');
      await until(() => engine.stats().windowsInFlight === 0);
      await engine.limitLanes(Infinity);
      expect((await transcribeWith(engine, clip.path, { language: 'es' })).text).to.equal(clip.text);
    });
  });
}
