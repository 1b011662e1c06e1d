/**
 * A SpeechEngine whose timing a test controls; it looks at the real uploaded file. For tests of the shell around the
 * engine only: the real one has its own.
 *
 * A file's first line decides: "audio SECONDS LANGUAGE TEXT" is decodable audio, "broken" has the right container
 * only, and anything else is no audio.
 */
import { openSync, readSync, closeSync } from 'node:fs';
import type { AudioInfo } from '../../src/engine/binding.js';
import type {
  Admission,
  EngineStats,
  OpenAudio,
  SpeechEngine,
  TranscribeInput,
  Transcript,
} from '../../src/engine/types.js';
import { VerbatimError } from '../../src/errors.js';

const INFO: AudioInfo = { container: 'wav', codec: 'pcm_s16', sampleRate: 16_000, channels: 1 };

export function fakeAudio(seconds: number, { language = 'en', text = 'Hello, World.' } = {}): Buffer {
  return Buffer.from(`audio ${seconds} ${language} ${text}\n`);
}

export const BROKEN_AUDIO = Buffer.from('broken\n');

interface FakeAudio extends OpenAudio {
  language: string;
  text: string;
}

interface Gate {
  open: () => void;
  opened: Promise<void>;
}

export class FakeEngine implements SpeechEngine {
  languages: string[] = ['de', 'en', 'es', 'fr'];
  translatesToEnglish = false;
  device = { ids: ['cpu'], name: 'Fake CPU' };
  modelName = 'fake';
  slots = 2;
  maxBacklogSeconds = 36_000;
  realTimeFactor = 0.1;
  /** Thrown by the next transcribe call, then forgotten. */
  failWith: Error | null = null;
  openFiles = 0;
  admitted = 0;
  running = 0;
  transcribed = 0;
  backlogSeconds = 0;
  #gate: Gate | null = null;
  readonly #arrivals = new Set<() => void>();

  /** From now on transcriptions wait in a slot until release(). */
  holdAll(): void {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.#gate = { open, opened };
  }

  release(): void {
    this.#gate?.open();
    this.#gate = null;
  }

  /** Resolves when `count` transcriptions run. */
  async untilRunning(count: number): Promise<void> {
    while (this.running < count) await new Promise<void>((resolve) => this.#arrivals.add(resolve));
  }

  open(path: string, signal?: AbortSignal): Promise<OpenAudio> {
    signal?.throwIfAborted();
    const line = firstLine(path);
    const [, seconds, language, text] = /^audio (\S+) (\S+) (.*)$/.exec(line) ?? [];
    if (line === 'broken') return Promise.reject(new VerbatimError('invalid_audio', 'The audio is broken.'));
    if (seconds === undefined) {
      return Promise.reject(new VerbatimError('unsupported_audio_format', 'Not WAV, FLAC, MP3 or OGG.'));
    }
    this.openFiles++;
    let open = true;
    const audio: FakeAudio = {
      info: INFO,
      durationSeconds: Number(seconds),
      language: language!,
      text: text!,
      close: () => {
        if (open) this.openFiles--;
        open = false;
      },
    };
    return Promise.resolve(audio);
  }

  admit({ accountId, audioSeconds }: { accountId: string; audioSeconds: number }): Admission {
    if (this.backlogSeconds + audioSeconds > this.maxBacklogSeconds) {
      throw new VerbatimError('overloaded', 'The backlog is full.', {
        retryAfterSeconds: Math.max(1, Math.ceil(this.backlogSeconds * this.realTimeFactor)),
      });
    }
    this.admitted++;
    this.backlogSeconds += audioSeconds;
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      this.admitted--;
      this.backlogSeconds -= audioSeconds;
    };
    return { accountId, audioSeconds, release };
  }

  async transcribe({ audio, language, task, signal }: TranscribeInput): Promise<Transcript> {
    const file = audio as FakeAudio;
    this.running++;
    for (const resolve of this.#arrivals) resolve();
    this.#arrivals.clear();
    try {
      await this.#pass(signal);
      this.transcribed++;
      return {
        language: language === 'auto' ? file.language : language,
        languageProbability: language === 'auto' ? 0.99 : null,
        text: task === 'translate' ? `into English: ${file.text}` : file.text,
        segments: [],
        timings: { queueMs: 1, decodeMs: 2, speechMs: 3, inferenceMs: 4 },
      };
    } finally {
      this.running--;
    }
  }

  stats(): EngineStats {
    const { slots, maxBacklogSeconds, backlogSeconds, realTimeFactor } = this;
    const busySlots = Math.min(this.running, slots);
    const queuedWindows = this.running - busySlots;
    return { slots, busySlots, queuedWindows, backlogSeconds, maxBacklogSeconds, realTimeFactor };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #pass(signal: AbortSignal | undefined): Promise<void> {
    if (this.failWith !== null) {
      const error = this.failWith;
      this.failWith = null;
      throw error;
    }
    signal?.throwIfAborted();
    if (this.#gate === null) return;
    await new Promise<void>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      void this.#gate!.opened.then(resolve);
    });
  }
}

/** Only the start: some uploads of the tests are large. */
function firstLine(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(4096);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return bytes.toString('utf8', 0, length).split('\n', 1)[0]!;
  } finally {
    closeSync(file);
  }
}
