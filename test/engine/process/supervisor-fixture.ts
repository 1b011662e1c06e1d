/** A supervisor of fake children, each started when it is needed. */
import { EngineError } from '../../../src/engine/native-errors.js';
import { Supervisor } from '../../../src/engine/process/supervisor.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { fakeChildren, type FakeChild } from './fake-child.js';

export type WorkCalls = { work: { request: string; progress: number; answer: string } };

export const LIMIT_MS = 60_000;
export const BEAT_MS = 2000;

/** What became of a call, so far. */
export interface WorkOutcome {
  value?: string;
  error?: unknown;
  progress: number[];
}

/** A supervisor with fake children and a clock that is moved by hand. */
export class SupervisorFixture {
  readonly timers = new ManualTimers();
  readonly deaths: string[] = [];
  readonly children: FakeChild[];
  readonly supervisor: Supervisor<WorkCalls>;
  /** Bytes of memory that each child holds. */
  held = 1000;

  constructor() {
    const { children, start } = fakeChildren();
    this.children = children;
    this.supervisor = new Supervisor<WorkCalls>({
      name: 'the test process',
      settings: () => ({ some: 'settings' }),
      ...{ start, timers: this.timers, idleMs: 30_000 },
      limits: { periodMs: BEAT_MS, silentPingsBeforeReady: 3, silentPings: 3, memoryBytes: 5000 },
      ...{ memoryOf: () => this.held, isStopped: () => false },
      fatalError: (how) => new EngineError('internal_error', `The test process died of this request: ${how}.`),
      observer: { died: ({ how }) => void this.deaths.push(how) },
    });
  }

  call(request: string, signal?: AbortSignal): WorkOutcome {
    const outcome: WorkOutcome = { progress: [] };
    this.supervisor
      .call('work', {
        ...{ request: () => request, signal, limitMs: LIMIT_MS },
        progress: (value) => outcome.progress.push(value),
      })
      .then(
        (value) => (outcome.value = value),
        (error: unknown) => (outcome.error = error),
      );
    return outcome;
  }

  get latest(): FakeChild {
    return this.children.at(-1)!;
  }

  ready(): void {
    this.latest.say({ kind: 'ready' });
  }

  /** Time passes, and the child answers each ping. */
  beat(milliseconds: number): void {
    for (let passed = 0; passed < milliseconds; passed += BEAT_MS) {
      this.timers.pass(BEAT_MS);
      this.latest.say({ kind: 'pong' });
    }
  }
}

export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
