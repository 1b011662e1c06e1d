/**
 * When the engine's process reports its load: no more often than the load changes, and never while it is idle.
 */
import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import type { ToChild } from '../../../src/engine/process/messages.js';
import type { EngineLoad } from '../../../src/engine/types.js';
import { serveEngine, type LoadedEngines } from '../../../src/engine/remote/serve-engine.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { until } from '../../support/until.js';
import { fakeChannel } from '../process/fake-channel.js';

const REPORT_MS = 100;
const MEASURE = { path: 'a', accountId: 'one', maxSeconds: undefined, counts: false };

describe('Reports of the engine’s process', () => {
  let timers: ManualTimers;
  let load: EngineLoad;
  let reported: string[];
  let ends: ((seconds: number) => void)[];
  let recognise: (message: ToChild) => void;

  beforeEach(async () => {
    timers = new ManualTimers();
    load = { slots: 2, busySlots: 0, windowsInFlight: 0, queuedWindows: 0, realTimeFactor: 1 };
    reported = [];
    ends = [];
    const stats = (): never =>
      ({
        ...load,
        backlogSeconds: 0,
        maxBacklogSeconds: 0,
        retryAfterSeconds: 0,
        backlogByAccount: [],
      }) as never;
    const measure = (): Promise<number> => new Promise((resolve) => ends.push(resolve));
    const speech = { stats, measure } as Partial<LoadedEngines['speech']>;
    const engines = { speech, translation: {}, info: {} } as LoadedEngines;
    const { channel, ...other } = fakeChannel((message, done) => {
      reported.push(message.kind);
      done(null);
    });
    recognise = other.recognise;
    serveEngine(() => Promise.resolve(engines), channel, timers);
    recognise({ kind: 'start', settings: null });
    await until(() => reported.includes('ready'));
  });

  const begin = async (id: number): Promise<void> => {
    recognise({ kind: 'call', id, name: 'measure', request: MEASURE });
    await turn();
  };
  const end = async (): Promise<void> => {
    ends.shift()?.(1);
    await turn();
  };

  it('come once before it is ready, and then with work', async () => {
    expect(reported).to.deep.equal(['report', 'ready']);
    expect(timers.pending).to.equal(0);
    await begin(1);
    timers.pass(10 * REPORT_MS);
    expect(reported).to.deep.equal(['report', 'ready']);
    load = { ...load, busySlots: 1 };
    timers.pass(10 * REPORT_MS);
    expect(reported.splice(0)).to.deep.equal(['report', 'ready', 'report']);
    load = { ...load, busySlots: 0, realTimeFactor: 0.5 };
    await end();
    expect(reported).to.deep.equal(['report', 'answer']);
  });

  it('go on after the last answer until nothing changes any more, and cost nothing from then on', async () => {
    await begin(1);
    load = { ...load, busySlots: 2 };
    await end();
    expect(reported.splice(0)).to.deep.equal(['report', 'ready', 'report', 'answer']);
    load = { ...load, busySlots: 0 };
    timers.pass(REPORT_MS);
    expect(reported.splice(0)).to.deep.equal(['report']);
    expect(timers.pending).to.equal(1);
    timers.pass(REPORT_MS);
    expect(timers.pending).to.equal(0);
    await begin(2);
    expect(timers.pending).to.equal(1);
    load = { ...load, busySlots: 1 };
    timers.pass(REPORT_MS);
    expect(reported).to.deep.equal(['report']);
  });

  it('go on after the last answer for as long as the engine works on what was aborted', async () => {
    await begin(1);
    load = { ...load, busySlots: 1, windowsInFlight: 1 };
    await end();
    reported.splice(0);
    timers.pass(10 * REPORT_MS);
    expect(reported).to.deep.equal([]);
    load = { ...load, busySlots: 0, windowsInFlight: 0 };
    timers.pass(REPORT_MS);
    expect(reported).to.deep.equal(['report']);
    timers.pass(REPORT_MS);
    expect(timers.pending).to.equal(0);
  });

  it('that went with an answer need not be repeated at once', async () => {
    await begin(1);
    await begin(2);
    timers.pass(REPORT_MS - 1);
    load = { ...load, busySlots: 1 };
    await end();
    expect(reported.splice(0)).to.deep.equal(['report', 'ready', 'report', 'answer']);
    load = { ...load, busySlots: 0 };
    timers.pass(REPORT_MS - 1);
    expect(reported).to.deep.equal([]);
    timers.pass(1);
    expect(reported).to.deep.equal(['report']);
  });
});
