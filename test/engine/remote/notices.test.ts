/** What the server tells the engine's process about how to work, from both ends of the channel. */
import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import type { ChildEvents, StartChild } from '../../../src/engine/process/child.js';
import type { FromChild, ToChild } from '../../../src/engine/process/messages.js';
import { EngineSupervisor } from '../../../src/engine/remote/engine-supervisor.js';
import { serveEngine, type LoadedEngines } from '../../../src/engine/remote/serve-engine.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { until } from '../../support/until.js';
import { fakeChannel } from '../process/fake-channel.js';

describe('Notices to the engine’s process', () => {
  let limits: number[];
  let unloads: number;
  let releaseLanes: () => void;
  let isHolding: boolean;
  let processes: ChildEvents[];
  let loading: { finish: () => void }[];
  let supervisor: EngineSupervisor;

  const engines = (): LoadedEngines => {
    const stats = () => ({ slots: 2, busySlots: 0, windowsInFlight: 0, queuedWindows: 0, realTimeFactor: 1 });
    const limitLanes = async (lanes: number): Promise<void> => {
      limits.push(lanes);
      if (isHolding) await new Promise<void>((resolve) => (releaseLanes = resolve));
    };
    const unloadIdle = (): Promise<void> => {
      unloads += 1;
      return Promise.resolve();
    };
    return { speech: { stats, limitLanes }, translation: { unloadIdle }, info: {} } as unknown as LoadedEngines;
  };
  const start: StartChild = (events) => {
    processes.push(events);
    const { channel, recognise } = fakeChannel((message: FromChild, done) => {
      events.message(message, 1);
      done(null);
    });
    const load = (): Promise<LoadedEngines> =>
      new Promise((resolve) => loading.push({ finish: () => resolve(engines()) }));
    serveEngine(load, channel, new ManualTimers());
    return { pid: 1, send: (message: ToChild) => recognise(message), kill: () => events.exit('SIGKILL') };
  };

  beforeEach(async () => {
    [limits, unloads, processes, loading] = [[], 0, [], []];
    isHolding = false;
    supervisor = new EngineSupervisor({
      ...{ start, settings: () => null, timers: new ManualTimers(), isStopped: () => false },
      observer: { engineDied: () => undefined, engineRefused: () => undefined, measured: () => undefined },
    });
    const ready = supervisor.start();
    loading[0]?.finish();
    await ready;
  });
  afterEach(() => supervisor.close());

  it('hold once the process has let go of its lanes', async () => {
    isHolding = true;
    let holds = false;
    const limited = supervisor.limitLanes(1).then(() => (holds = true));
    await turn();
    expect(limits).to.deep.equal([1]);
    expect(holds).to.equal(false);
    releaseLanes();
    await limited;
  });

  it('unload translation models, and leave the limit as it was', async () => {
    await supervisor.limitLanes(1);
    await supervisor.unloadText();
    expect(unloads).to.equal(1);
    expect(limits).to.deep.equal([1, 1]);
  });

  it('change no limit where there was none', async () => {
    await supervisor.unloadText();
    expect(limits).to.deep.equal([Infinity]);
  });

  it('hold at once where the process dies, and hold in the next one before it has anything to do', async () => {
    isHolding = true;
    const limited = supervisor.limitLanes(0);
    await turn();
    isHolding = false;
    processes[0]?.exit('SIGSEGV');
    await limited;
    await until(() => loading.length === 2);
    await supervisor.limitLanes(1);
    expect(limits).to.deep.equal([0]);
    loading[1]?.finish();
    await until(() => supervisor.isServing);
    // Of those that came before it was ready, the last.
    expect(limits).to.deep.equal([0, 1]);
  });
});
