/** When the engine's process is started again after deaths: see ServingWorker. */
import { EngineSupervisor } from '../../../src/engine/remote/engine-supervisor.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { fakeChildren, startsAfter, type FakeChild } from '../process/fake-child.js';

describe('A process of the engine that dies again and again', () => {
  let timers: ManualTimers;
  let children: FakeChild[];

  const latest = (): FakeChild => children.at(-1)!;

  beforeEach(async () => {
    const fakes = fakeChildren();
    ({ children } = fakes);
    timers = new ManualTimers();
    const observer = { engineDied: () => undefined, engineRefused: () => undefined, measured: () => undefined };
    const supervisor = new EngineSupervisor({ start: fakes.start, settings: () => 'settings', timers, observer });
    const started = supervisor.start();
    latest().say({ kind: 'ready', value: { modelName: 'fake' } });
    await started;
    latest().exit('SIGKILL'); // a first early death: the next one starts at once
  });

  it('spends at most half of the time on starts that take long', () => {
    for (const [livedMs, pauseMs] of [
      [200, 1000],
      [20_000, 2000],
      [20_000, 4000],
      [20_000, 8000],
      [20_000, 16_000],
      [20_000, 20_000],
      [300, 1000],
    ] as const) {
      timers.pass(livedMs);
      latest().exit('SIGKILL');
      startsAfter(children, timers, pauseMs);
    }
  });

  it('tries again less and less often with a process that reports why it cannot start', () => {
    for (const pauseMs of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      latest().say({ kind: 'unfit', error: { code: 'invalid_model', message: 'No model.' } });
      latest().exit();
      startsAfter(children, timers, pauseMs);
    }
  });
});
