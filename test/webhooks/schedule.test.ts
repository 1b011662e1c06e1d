/** When an event is sent that nobody takes: growing pauses, for a day. A real ledger, and a clock that a test moves. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { Ledger } from '../../src/ledger/ledger.js';
import { WebhookDispatcher } from '../../src/webhooks/dispatcher.js';
import { useLedger, type Bench, type KeyHolder } from '../ledger/support.js';
import { ManualTimers } from '../support/manual-timers.js';

const DAY_SECONDS = 86_400;
const [MINUTE, HOUR] = [60, 3600];

describe('The schedule of webhooks', () => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  useLedger(100, (fixture) => ({ bench, ledger, ann } = fixture));

  async function endedJob(): Promise<void> {
    await ledger.jobs.create({
      ...{ id: 'job_1', accountId: ann.account.id, keyId: ann.key.id, requestId: 'req', options: {} },
      ...{ audioSeconds: 3, credits: 1, mostOpen: 100, idempotency: null },
      webhook: { url: 'https://example.com/', secret: 'whsec_AAAA' },
    });
    await ledger.jobs.end(ann.account.id, 'job_1', 'cancel');
  }

  /** Seconds from the end of the job to each attempt, all of which fail, in two days. `chance`: of the jitter. */
  async function attempts(chance: number): Promise<number[]> {
    await endedJob();
    const [began, timers, sent] = [bench.now, new ManualTimers(), [] as number[]];
    const seconds = (): number => (bench.now - began) / 1000;
    const dispatcher = new WebhookDispatcher({
      ledger: ledger.webhooks,
      sender: {
        send: () => {
          sent.push(seconds());
          return Promise.resolve({ problem: 'It answered 500.', final: false });
        },
      },
      payload: () => '{}',
      ...{ timers, now: () => bench.now, random: () => chance, onAttempt: () => undefined },
      onError: (error) => {
        throw error;
      },
    });
    while (seconds() < 2 * DAY_SECONDS) {
      for (let turn = 0; turn < 4; turn++) await setImmediate();
      // A hundredth of the pause so far is fine enough to see how long it is.
      bench.now += Math.max(1000, 10 * Math.round(seconds() - (sent.at(-1) ?? 0)));
      timers.pass(1000);
    }
    await dispatcher.close();
    return sent;
  }

  it('has pauses of 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, 5.7 h and then 6 h, for a day', async () => {
    const sent = await attempts(0.5);
    const pauses = sent.slice(1).map((at, index) => at - sent[index]!);
    const expected = [5, 20, 80, 5.33 * MINUTE, 21.3 * MINUTE, 85.3 * MINUTE, 5.69 * HOUR, 6 * HOUR, 6 * HOUR];
    expect(pauses).to.have.length(expected.length);
    for (const [index, pause] of pauses.entries())
      expect(pause, `pause ${index + 1}`).to.be.within(0.98 * expected[index]!, 1.03 * expected[index]! + 2);
    expect(sent.at(-1)).to.be.below(DAY_SECONDS);
    const [event] = await ledger.webhooks.list({ state: null, limit: 1 });
    expect(event).to.include({ state: 'failed', attempts: 10, nextAttemptAt: null });
  });

  for (const [chance, factor] of [
    [0, 0.8],
    [1, 1.2],
  ] as const)
    it(`has pauses of ${factor} of that where chance would have it`, async () => {
      const sent = await attempts(chance);
      expect(sent[1]).to.be.within(5 * factor, 5 * factor + 2);
      expect(sent[3]! - sent[2]!).to.be.within(0.98 * 80 * factor, 1.03 * 80 * factor + 2);
      expect(sent.at(-1)).to.be.below(DAY_SECONDS);
    });
});
