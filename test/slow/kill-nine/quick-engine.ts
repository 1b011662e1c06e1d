import { setTimeout as sleep } from 'node:timers/promises';
import type { TranscribeInput, Transcript } from '../../../src/engine/types.js';
import { FakeEngine } from '../../support/fake-engine.js';

/** Works for some milliseconds instead of seconds, so that a kill finds the ledger busy nearly every time. */
export class QuickEngine extends FakeEngine {
  override async transcribe(input: TranscribeInput): Promise<Transcript> {
    await sleep(Math.random() * 60, undefined, input.signal === undefined ? {} : { signal: input.signal });
    return super.transcribe(input);
  }
}
