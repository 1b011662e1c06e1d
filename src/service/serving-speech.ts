/** The speech engine that serves now, whichever that is; requests that make more than one call have one lent instead. */
import type {
  AudioToMeasure,
  EngineStats,
  FileToConvert,
  FileToTranscribe,
  SpeechEngine,
  Transcript,
} from '../engine/types.js';
import type { ModelTurns } from './model-turns.js';

export class ServingSpeech implements SpeechEngine {
  constructor(private readonly models: Pick<ModelTurns, 'serving' | 'atWork' | 'lend' | 'close'>) {}

  get languages(): SpeechEngine['languages'] {
    return this.#now.languages;
  }

  get translatesToEnglish(): boolean {
    return this.#now.translatesToEnglish;
  }

  get abilities(): SpeechEngine['abilities'] {
    return this.#now.abilities;
  }

  get alignsWords(): boolean {
    return this.#now.alignsWords;
  }

  get devices(): SpeechEngine['devices'] {
    return this.#now.devices;
  }

  get modelName(): string {
    return this.#now.modelName;
  }

  get voiceActivity(): SpeechEngine['voiceActivity'] {
    return this.#now.voiceActivity;
  }

  get isDemonstration(): boolean {
    return this.#now.isDemonstration;
  }

  transcribeFile(file: FileToTranscribe): Promise<Transcript> {
    return this.#with((engine) => engine.transcribeFile(file));
  }

  convertFile(file: FileToConvert): Promise<{ milliseconds: number } | null> {
    return this.#with((engine) => engine.convertFile(file));
  }

  measureFile(file: AudioToMeasure): Promise<number> {
    return this.#with((engine) => engine.measureFile(file));
  }

  checkRoom(accountId: string): void {
    this.#now.checkRoom(accountId);
  }

  /** With what the model before has still to do; the backlog is one. */
  stats(): EngineStats {
    const all = this.models.atWork.map(({ speech }) => speech.stats());
    const sum = (of: (stats: EngineStats) => number): number => all.reduce((sum, one) => sum + of(one), 0);
    const now = this.#now.stats();
    return {
      ...now,
      // None while the one that serves is not there.
      slots: now.slots === 0 ? 0 : sum(({ slots }) => slots),
      busySlots: sum(({ busySlots }) => busySlots),
      windowsInFlight: sum(({ windowsInFlight }) => windowsInFlight),
      queuedWindows: sum(({ queuedWindows }) => queuedWindows),
    };
  }

  close(): Promise<void> {
    return this.models.close();
  }

  get #now(): SpeechEngine {
    return this.models.serving.speech;
  }

  async #with<T>(work: (engine: SpeechEngine) => Promise<T>): Promise<T> {
    const { engine, giveBack } = this.models.lend();
    try {
      return await work(engine);
    } finally {
      giveBack();
    }
  }
}
