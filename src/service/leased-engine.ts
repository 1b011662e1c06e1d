import type { LaneDivision } from '../engine/lane-division.js';
import { IdleSignal } from '../idle-signal.js';
import type { EngineLease, SpeechOfModel } from '../transcription/engine-lease.js';
import { DividedSpeech } from './divided-speech.js';
import type { EngineApart } from './engine-apart.js';

/** An engine with its users and its share of the lanes. It can be retired, and then ends when it has no more users. */
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

  /** Acquires only the transcription of windows. */
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

  /**
   * Must be called when nobody can acquire the engine any more. Resolves when all users are done and its processes have
   * ended.
   */
  async retire(): Promise<void> {
    await this.#unused.whenIdle();
    await this.close();
  }

  /** Waits for running calls. */
  async close(): Promise<void> {
    await this.engine.close();
    this.division.remove(this.engine);
  }
}
