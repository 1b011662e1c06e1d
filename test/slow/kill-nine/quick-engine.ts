import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Admission,
  EngineStats,
  OpenAudio,
  SpeechEngine,
  Transcript,
} from '../../../src/engine/types.js';

const TIMINGS = { queueMs: 0, decodeMs: 0, speechMs: 0, inferenceMs: 0 };

/**
 * An engine that works for some milliseconds instead of seconds, so that a kill finds the ledger busy nearly every time.
 * The "audio" is a text: its length in seconds.
 */
export class QuickEngine implements SpeechEngine {
  readonly languages = ['en'];
  readonly device = { ids: ['cpu'], name: 'none' };
  readonly modelName = 'quick';

  async open(path: string): Promise<OpenAudio> {
    const durationSeconds = Number(await readFile(path, 'utf8'));
    const info = { container: 'wav', codec: 'pcm_s16', sampleRate: 16_000, channels: 1 } as const;
    return { info, durationSeconds, close: () => undefined };
  }

  admit(input: { accountId: string; audioSeconds: number }): Admission {
    return { ...input, release: () => undefined };
  }

  async transcribe({ signal }: { signal?: AbortSignal }): Promise<Transcript> {
    await sleep(Math.random() * 60, undefined, signal === undefined ? {} : { signal });
    return { language: 'en', languageProbability: 1, text: 'words', segments: [], timings: TIMINGS };
  }

  stats(): EngineStats {
    return {
      ...{ slots: 1, busySlots: 0, queuedWindows: 0 },
      ...{ backlogSeconds: 0, maxBacklogSeconds: 1_000_000, realTimeFactor: 0.001 },
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
