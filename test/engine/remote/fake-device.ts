import { EngineSupervisor } from '../../../src/engine/remote/engine-supervisor.js';
import type { ManualTimers } from '../../support/manual-timers.js';
import { fakeChildren, type FakeChild } from '../process/fake-child.js';

export const DEVICE_LOAD = { slots: 2, busySlots: 1, windowsInFlight: 3, queuedWindows: 4, realTimeFactor: 0.5 };

/** A device whose processes do what the test says. */
export class Device {
  readonly children: FakeChild[];
  readonly supervisor: EngineSupervisor;
  readonly refused: string[] = [];

  constructor(timers: ManualTimers, changed: () => void) {
    const { children, start } = fakeChildren();
    this.children = children;
    this.supervisor = new EngineSupervisor({
      ...{ start, settings: () => 'settings', timers, changed, isStopped: () => false },
      observer: {
        engineDied: () => undefined,
        engineRefused: (origin) => this.refused.push(origin?.requestId ?? '?'),
        measured: () => undefined,
      },
    });
  }

  get latest(): FakeChild {
    return this.children.at(-1)!;
  }

  ready(child = this.latest, load: Partial<typeof DEVICE_LOAD> = {}): void {
    child.say({ kind: 'report', value: { load: { ...DEVICE_LOAD, ...load }, measurements: [] } });
    child.say({ kind: 'ready', value: { modelName: 'fake' } });
  }

  async start(load?: Partial<typeof DEVICE_LOAD>): Promise<void> {
    const started = this.supervisor.start();
    this.ready(this.latest, load);
    await started;
  }

  die(child = this.latest): void {
    child.exit('SIGSEGV');
  }

  /** The calls of its latest process that were not aborted. */
  static namesIn(child: FakeChild): string[] {
    const aborted = new Set(child.received.flatMap((reported) => (reported.kind === 'abort' ? [reported.id] : [])));
    return child.received.flatMap((reported) =>
      reported.kind === 'call' && !aborted.has(reported.id) ? [(reported.request as { path: string }).path] : [],
    );
  }

  get names(): string[] {
    return Device.namesIn(this.latest);
  }
}

/** Of the call of that file, the latest one. */
export function idIn(child: FakeChild, path: string): number {
  const call = child.received.findLast(
    (reported) => reported.kind === 'call' && (reported.request as { path: string }).path === path,
  );
  if (call?.kind !== 'call') throw new Error(`It was not asked for ${path}.`);
  return call.id;
}
