import { expect } from 'chai';
import { loadBinding } from '../../../src/engine/binding.js';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { loadRealEngine, transcribeWith } from '../../support/real-engine.js';
import { seededRandom } from '../../../bench/load/random.js';
import { SEED } from '../../support/seed.js';
import { samples } from '../../support/speech.js';
import { until } from '../../support/until.js';
import { collectGarbage } from '../../native/support.js';

const REQUESTS = 32;

describe('The batched decoder on the real addon', function () {
  this.timeout(120_000);

  it('says the same beside requests that are aborted at any step, and holds nothing afterwards', async () => {
    await collectGarbage();
    const heldBefore = loadBinding().heldBytes();
    const random = seededRandom(SEED);
    let calls = 0;
    const aborts: { atCall: number; cancel: AbortController }[] = [];
    const observer = {
      windowDone: () => undefined,
      batchAdvanced: () => {
        calls++;
        for (const { atCall, cancel } of aborts) if (calls === atCall) cancel.abort('enough');
      },
    };
    const engine = await loadRealEngine({ slots: 2, decoder: 'batched', observer });
    try {
      const alone = new Map<string, string>();
      for (const { path } of samples()) alone.set(path, (await transcribeWith(engine, path)).text);
      const perFile = calls / alone.size;
      calls = 0;
      const clips = [...alone.keys()];
      const sent = Array.from({ length: REQUESTS }, (_, n) => {
        const path = clips[n % clips.length] ?? '';
        const cancel = new AbortController();
        const isAborted = n % 2 === 1;
        // Together they make no more calls than one after the other.
        if (isAborted) aborts.push({ atCall: 1 + Math.floor((random() * perFile * REQUESTS) / 4), cancel });
        return recognised(engine, path, n, cancel.signal).then((text) => ({ path, text, isAborted }));
      });
      for (const { path, text, isAborted } of await Promise.all(sent)) {
        if (!isAborted || text !== 'enough') expect(text).to.equal(alone.get(path));
      }
      const ended = (await Promise.all(sent)).filter(({ text }) => text === 'enough');
      expect(ended.length, 'aborted in time').to.be.above(0);
      await until(() => engine.stats().windowsInFlight === 0);
      expect(engine.stats()).to.include({ busySlots: 0, queuedWindows: 0 });
    } finally {
      await engine.close();
    }
    await collectGarbage();
    expect(loadBinding().heldBytes()).to.equal(heldBefore);
  });
});

/** The text, or why there is none. */
function recognised(engine: SpeechEngine, path: string, n: number, signal: AbortSignal): Promise<unknown> {
  return transcribeWith(engine, path, { accountId: `account-${n % 5}`, signal }).then(
    ({ text }) => text,
    (error: unknown) => error,
  );
}
