import { IdleSignal } from '../idle-signal.js';
import type { EngineLease } from '../transcription/engine-lease.js';
import type { EngineApart } from './engine-apart.js';

/** An engine with those who use it: it ends when none is left. */
export class LeasedEngine {
  #users = 0;
  readonly #unused = new IdleSignal(() => this.#users === 0);

  constructor(
    readonly engine: EngineApart,
    /** Milliseconds since 1970. */
    readonly servesSince: number,
  ) {}

  get users(): number {
    return this.#users;
  }

  acquire(): EngineLease {
    const { speech, translator } = this.engine;
    let isHeld = true;
    this.#users += 1;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#users -= 1;
      this.#unused.check();
    };
    return { reader: speech, info: speech.info, speech: () => Promise.resolve(speech), translator, release };
  }

  /** Nobody may acquire it from now on. Resolves when those who hold it are done, and its process is gone. */
  async retire(): Promise<void> {
    await this.#unused.whenIdle();
    await this.engine.close();
  }
}
