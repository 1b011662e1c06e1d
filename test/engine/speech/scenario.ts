/** Scenes for the tests of the engine: a fake addon, requests of accounts, and what came of them. */
import {
  createSpeechEngine,
  type LocalSpeechEngine,
  type SpeechEngineOptions,
} from '../../../src/engine/speech/transcriber.js';
import type { FileToMeasure, OnWindow, Transcript } from '../../../src/engine/types.js';
import { measureAndTranscribe, type FileToMeasureFirst } from '../../support/transcribe.js';
import { FAKE_POLICY, type FakeFile } from '../fake-audio.js';
import { FakeBinding } from '../fake-binding.js';
import { FakeClock } from '../fake-clock.js';
import type { FakeSettings } from '../fake-tally.js';

export interface RequestOutcome {
  transcript: Transcript | null;
  error: unknown;
  /** Milliseconds of virtual time at which it was over. */
  endMs: number;
}

export type Request = Partial<FileToMeasureFirst> & { path: string; onWindow?: OnWindow };

export class Scenario {
  readonly outcomes = new Map<string, RequestOutcome>();

  private constructor(
    readonly clock: FakeClock,
    readonly fake: FakeBinding,
    readonly engine: LocalSpeechEngine,
  ) {}

  static async start(
    options: Partial<SpeechEngineOptions> = {},
    settings: Partial<FakeSettings> = {},
  ): Promise<Scenario> {
    const clock = new FakeClock();
    const fake = new FakeBinding(clock, settings);
    const engine = await createSpeechEngine({
      binding: fake,
      modelPath: 'model.bin',
      modelName: 'fake',
      policy: FAKE_POLICY,
      decoder: { kind: 'whisper.cpp' },
      devices: fake.settings.devices,
      slots: 2,
      threads: 1,
      accelerator: 'off',
      ffmpeg: 'ffmpeg',
      clock,
      ...options,
    });
    return new Scenario(clock, fake, engine);
  }

  /** A file of so many seconds, or of these windows. */
  file(path: string, file: number | FakeFile): string {
    return this.fake.addFile(path, typeof file === 'number' ? { seconds: file } : file);
  }

  /** The outcome is filed under the path. */
  async send({ onWindow, ...request }: Request): Promise<void> {
    const { path } = request;
    const outcome: RequestOutcome = { transcript: null, error: null, endMs: 0 };
    try {
      const file = { accountId: 'one', language: 'en', ...request };
      outcome.transcript = await measureAndTranscribe(this.engine, file, onWindow);
    } catch (error) {
      outcome.error = error;
    }
    outcome.endMs = this.clock.now();
    this.outcomes.set(path, outcome);
  }

  /** Only measures it; how that ended is filed under the path. */
  async measure(file: FileToMeasure): Promise<void> {
    const outcome: RequestOutcome = { transcript: null, error: null, endMs: 0 };
    try {
      await this.engine.measure(file);
    } catch (error) {
      outcome.error = error;
    }
    outcome.endMs = this.clock.now();
    this.outcomes.set(file.path, outcome);
  }

  /** Sends at a moment of virtual time. */
  sendAt(milliseconds: number, request: Request): void {
    this.clock.after(milliseconds - this.clock.now(), () => void this.send(request));
  }

  /** Runs to the end of everything. */
  async finish(): Promise<void> {
    await this.clock.run();
  }

  outcome(path: string): RequestOutcome {
    const outcome = this.outcomes.get(path);
    if (outcome === undefined) throw new Error(`${path} is not over.`);
    return outcome;
  }

  transcript(path: string): Transcript {
    const { transcript, error } = this.outcome(path);
    if (transcript === null) throw new Error(`${path} failed: ${String(error)}`);
    return transcript;
  }
}
