import type { LaneDivision } from '../engine/lane-division.js';
import { IdleSignal } from '../idle-signal.js';
import type { EngineLease, SpeechOfModel } from '../transcription/engine-lease.js';
import { DividedSpeech } from './divided-speech.js';
import type { EngineApart } from './engine-apart.js';

/** An engine with those who use it, and with its share of the lanes: it ends when none is left. */
export class LeasedEngine {
  #users = 0;
  readonly #unused = new IdleSignal(() => this.#users === 0);
  readonly #speech: DividedSpeech;

  constructor(
    readonly engine: EngineApart,
    /** Milliseconds since 1970. */
    readonly servesSince: number,
    private readonly division: LaneDivision,
  ) {
    division.add(engine);
    this.#speech = new DividedSpeech(engine.speech, engine, division);
  }

  get users(): number {
    return this.#users;
  }

  acquire(): EngineLease {
    const { speech: reader, translator, info } = this.engine;
    const { speech, release } = this.acquireSpeech();
    return { reader, info, speech: () => Promise.resolve(speech), translator, release };
  }

  /** For its windows alone. */
  acquireSpeech(): { speech: SpeechOfModel; release: () => void } {
    let isHeld = true;
    this.#users += 1;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#users -= 1;
      this.#unused.check();
    };
    return { speech: this.#speech, release };
  }

  /** Nobody may acquire it from now on. Resolves when those who hold it are done, and its process is gone. */
  async retire(): Promise<void> {
    await this.#unused.whenIdle();
    await this.close();
  }

  /** Calls that run finish first. */
  async close(): Promise<void> {
    await this.engine.close();
    this.division.remove(this.engine);
  }
}
