/**
 * A SpeechEngine whose timing a test controls; it looks at the real uploaded file. For tests of the shell around the
 * engine only: the real one has its own.
 *
 * A file's first line, which a fakeWav() has in a chunk, decides: "audio SECONDS LANGUAGE TEXT" is decodable audio,
 * "broken" has the right container only, "recording of " before either makes it one to be converted, and anything else
 * is no audio. "|" in TEXT is where a window ends; each takes as long.
 */
import { rmSync, writeFileSync } from 'node:fs';
import type { Segment } from '../../src/engine/binding.js';
import { EngineError } from '../../src/engine/native-errors.js';
import { Backlog, type BacklogPlace } from '../../src/engine/backlog.js';
import type {
  AudioBudget,
  EngineLoad,
  FileToConvert,
  FileToMeasure,
  FileToTranscribe,
  OnWindow,
  RecognisedUtterance,
  SpeechEngine,
  Transcript,
  UtteranceToRecognise,
} from '../../src/engine/types.js';
import { VerbatimError } from '../../src/errors.js';
import { firstLine, readAudio, RECORDING, SPEECH_CHUNK, type FakeAudio } from './fake-file.js';
import { laterBy, spokenEvenly } from './fake-speech.js';

export function fakeAudio(seconds: number, { language = 'en', text = 'Hello, World.' } = {}): Buffer {
  return Buffer.from(`audio ${seconds} ${language} ${text}\n`);
}

/** What the engine does not read itself. */
export function fakeRecording(audio: Buffer): Buffer {
  return Buffer.concat([Buffer.from(RECORDING), audio]);
}

const SAMPLE_RATE = 8000;

interface FakeSpeech {
  language?: string;
  text?: string;
}

/**
 * The same as a WAV file that browsers play: of silence, with that line in a chunk of its own. `playedSeconds`: as long
 * as it takes to play, where that differs.
 */
export function fakeWav(seconds: number, speech: FakeSpeech & { playedSeconds?: number } = {}): Buffer {
  const samples = Buffer.alloc(2 * Math.round((speech.playedSeconds ?? seconds) * SAMPLE_RATE));
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(SAMPLE_RATE, 4);
  format.writeUInt32LE(2 * SAMPLE_RATE, 8);
  format.writeUInt16LE(2, 12);
  format.writeUInt16LE(16, 14);
  const line = fakeAudio(seconds, speech);
  const even = line.length % 2 === 0 ? line : Buffer.concat([line, Buffer.from('\n')]);
  const chunks = [chunk('fmt ', format), chunk(SPEECH_CHUNK, even), chunk('data', samples)];
  return chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), ...chunks]));
}

function chunk(id: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(content.length);
  return Buffer.concat([Buffer.from(id), length, content]);
}

export const BROKEN_AUDIO = Buffer.from('broken\n');

interface Gate {
  open: () => void;
  opened: Promise<void>;
}

export class FakeEngine implements SpeechEngine {
  readonly info = {
    languages: ['de', 'en', 'es', 'fr'],
    translatesToEnglish: false,
    abilities: { detectsLanguage: true, takesPrompt: true, takesTemperature: true },
    alignsWords: true,
    commits: 'prefix' as 'prefix' | 'words' | null,
    devices: { ids: ['cpu'], name: 'Fake CPU' },
    modelName: 'fake',
    isDemonstration: false,
    voiceActivity: 'energy' as 'energy' | 'silero',
    windowSeconds: 30,
    minAverageLogProbability: null as number | null,
  };
  /** Of the next transcripts. */
  unsureWindows = 0;
  slots = 2;
  readonly maxBacklogSeconds = 36_000;
  realTimeFactor = 0.1;
  /** Thrown by the next pass, and only by that one. */
  failWith: Error | null = null;
  /** What each pass was asked to expect. */
  readonly prompts: (string | undefined)[] = [];
  /** At what temperature each pass was asked to decode. */
  readonly temperatures: (number | undefined)[] = [];
  /**
   * What the next utterances of live sessions say, each once; then, and at first, 'Hello, World.'. Decodings that may
   * change say what the next one says.
   */
  readonly utterances: string[] = [];
  /** Those that were recognised, or failed. */
  readonly recognised: UtteranceToRecognise[] = [];
  /** How often it says each window's text. */
  repeats = 1;
  /** What comes of recordings; null: what they say. */
  convertedLine: string | null = null;
  /** How much larger than their line conversions are. */
  paddingBytes = 0;
  conversions = 0;
  openFiles = 0;
  running = 0;
  transcribed = 0;
  /** Of the service around it. */
  readonly backlog = new Backlog({
    maxSeconds: this.maxBacklogSeconds,
    realTimeFactor: () => this.realTimeFactor,
  });
  #others: BacklogPlace | null = null;
  #gate: Gate | null = null;
  #heldAfter = 0;
  #closing: Promise<void> | null = null;
  readonly #arrivals = new Set<() => void>();
  readonly #departures = new Set<() => void>();

  get backlogSeconds(): number {
    return this.backlog.seconds;
  }

  /** Requests in the backlog. */
  get admitted(): number {
    return this.backlog.stats().backlogByAccount.reduce((sum, { requests }) => sum + requests, 0);
  }

  /** So much audio of another account. */
  set backlogSeconds(audioSeconds: number) {
    this.#others?.release();
    this.#others = audioSeconds === 0 ? null : this.backlog.readmit({ accountId: 'another account', audioSeconds });
  }

  async convert(file: FileToConvert): Promise<boolean> {
    this.#refuseWhenClosing();
    file.signal?.throwIfAborted();
    const line = firstLine(file.path);
    if (!line.startsWith(RECORDING)) return Promise.resolve(false);
    this.conversions++;
    writeFileSync(file.to, `${this.convertedLine ?? line.slice(RECORDING.length)}\n${' '.repeat(this.paddingBytes)}`);
    try {
      refuseOverBudget(file, readAudio(file.to).seconds);
    } catch (error) {
      rmSync(file.to);
      throw error;
    }
    return Promise.resolve(true);
  }

  async measure(file: FileToMeasure): Promise<number> {
    this.#refuseWhenClosing();
    file.signal?.throwIfAborted();
    const { seconds } = readAudio(file.path);
    refuseOverBudget(file, seconds);
    return Promise.resolve(seconds);
  }

  /** From now on transcriptions wait in a slot until release(), when they have reported so many windows. */
  holdAll(afterWindows = 0): void {
    this.#heldAfter = afterWindows;
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

  async transcribe(file: FileToTranscribe, onWindow?: OnWindow): Promise<Transcript> {
    this.prompts.push(file.prompt);
    this.temperatures.push(file.temperature);
    this.#refuseWhenClosing();
    if (file.align === true && !this.info.alignsWords) throw new EngineError('invalid_argument', 'No words.');
    this.#refuseUnknown(file.language);
    file.signal?.throwIfAborted();
    const audio = readAudio(file.path);
    this.openFiles++;
    try {
      return await this.#transcribe(file, audio, onWindow);
    } finally {
      this.openFiles--;
    }
  }

  async recognise(utterance: UtteranceToRecognise): Promise<RecognisedUtterance> {
    this.#refuseWhenClosing();
    this.#refuseUnknown(utterance.language);
    const { samples, startSample, language, signal, align, describe, prefix, dueInMs } = utterance;
    const most = this.info.windowSeconds * 16_000;
    if (samples.length === 0 || samples.length > most)
      throw new EngineError('invalid_argument', `The utterance has ${samples.length} samples; allowed: 1 to ${most}.`);
    signal?.throwIfAborted();
    this.recognised.push(utterance);
    const next = (dueInMs === null ? this.utterances[0] : this.utterances.shift()) ?? ' Hello, World.';
    const forced = prefix?.text ?? '';
    const text = next.startsWith(forced) ? next : forced + next;
    return this.#run(async () => {
      await this.work(signal, 0);
      const window = { index: 0, of: 1, seconds: samples.length / 16_000 };
      const spoken = laterBy(startSample / 16_000, spokenEvenly(text, window, { align: align === true }));
      const tokens = { windowStartSeconds: startSample / 16_000, tokens: [1, 2], averageLogProbability: -0.25 };
      const segment = describe === true ? { ...spoken, decoding: { ...tokens, temperature: 0 } } : spoken;
      return {
        language: language === 'auto' ? 'en' : language,
        languageProbabilities: language === 'auto' ? { en: 0.99, de: 0.01 } : null,
        segments: text.trim() === '' ? [] : [segment],
        averageLogProbability: text.trim() === '' ? null : -0.25,
        scoredTokens: text.trim() === '' ? 0 : text.length,
        workMs: (samples.length / 16) * this.realTimeFactor * this.slots,
      };
    });
  }

  stats(): EngineLoad {
    const { slots, realTimeFactor } = this;
    const busySlots = Math.min(this.running, slots);
    const queuedWindows = this.running - busySlots;
    return { slots, busySlots, windowsInFlight: busySlots, queuedWindows, realTimeFactor };
  }

  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async #drain(): Promise<void> {
    while (this.running > 0) await new Promise<void>((resolve) => this.#departures.add(resolve));
  }

  #refuseWhenClosing(): void {
    if (this.#closing !== null) throw new VerbatimError('shutting_down', 'The server is shutting down.');
  }

  async #transcribe(file: FileToTranscribe, audio: FakeAudio, onWindow?: OnWindow): Promise<Transcript> {
    const { language, task, signal } = file;
    return this.#run(async () => {
      const text = task === 'translate' ? `into English: ${audio.text}` : audio.text;
      const spoken = language === 'auto' ? audio.language : language;
      const windows = text.split('|').map((part) => part.repeat(this.repeats));
      const segments: Segment[] = [];
      for (const [index, text] of windows.entries()) {
        await this.work(signal, index);
        const seconds = ((index + 1) / windows.length) * audio.seconds;
        const update = { finished: null, seconds };
        if (text.trim() === '') {
          onWindow?.({ ...update, language: null, part: null });
          continue;
        }
        const segment = spokenEvenly(text, { of: windows.length, index, seconds: audio.seconds }, file);
        const part = {
          ...{ language: spoken, segments: [segment] },
          text: segments.length === 0 ? text.trim() : ` ${text.trim()}`,
        };
        onWindow?.({ ...update, language: spoken, part });
        segments.push(segment);
      }
      await this.work(signal, windows.length);
      this.transcribed++;
      return {
        durationSeconds: audio.seconds,
        language: spoken,
        languageProbability: language === 'auto' ? 0.99 : null,
        text: segments.map(({ text }) => text.trim()).join(' '),
        segments,
        windows: windows.length,
        unsureWindows: this.unsureWindows,
        timings: { queueMs: 1, readMs: 2, speechMs: 3, inferenceMs: 4 },
      };
    });
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    this.running++;
    for (const resolve of this.#arrivals) resolve();
    this.#arrivals.clear();
    try {
      return await work();
    } finally {
      this.running--;
      for (const resolve of this.#departures) resolve();
      this.#departures.clear();
    }
  }

  #refuseUnknown(language: string): void {
    if (language === 'auto' || this.info.languages.includes(language)) return;
    throw new VerbatimError('unsupported_language', `Not a language of the model: "${language}".`, {
      param: 'language',
    });
  }

  /** What one pass over a file takes before the window, or behind the last one. */
  protected async work(signal: AbortSignal | undefined, window: number): Promise<void> {
    if (window < this.#heldAfter) return;
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

function refuseOverBudget({ maxSeconds = Infinity, payableSeconds = Infinity }: AudioBudget, seconds: number): void {
  if (seconds > maxSeconds) {
    throw new VerbatimError('audio_too_long', `The audio is longer than the limit of ${maxSeconds} s.`, {
      param: 'audio',
    });
  }
  if (seconds > payableSeconds)
    throw new VerbatimError('insufficient_credits', 'The audio is too long to be paid for.');
}
