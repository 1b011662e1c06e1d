import { setTimeout as sleep } from 'node:timers/promises';
import { FakeEngine } from '../../support/fake-engine.js';

/** Works for some milliseconds instead of seconds, so that a kill finds the ledger busy nearly every time. */
export class QuickEngine extends FakeEngine {
  protected override async work(signal: AbortSignal | undefined, window: number): Promise<void> {
    await sleep(Math.random() * 30, undefined, signal === undefined ? {} : { signal });
    return super.work(signal, window);
  }
}
