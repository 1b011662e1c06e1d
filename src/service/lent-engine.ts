import type { LentEngines } from '../transcription/lent-engines.js';
import type { EngineApart } from './engine-apart.js';

/** An engine with those who use it: it ends when none is left. */
export class LentEngine {
  #users = 0;
  #idle: (() => void)[] = [];

  constructor(
    readonly engine: EngineApart,
    /** Milliseconds since 1970. */
    readonly servesSince: number,
  ) {}

  get users(): number {
    return this.#users;
  }

  lend(): LentEngines {
    const { speech, translator } = this.engine;
    let isLent = true;
    this.#users += 1;
    const giveBack = (): void => {
      if (!isLent) return;
      isLent = false;
      this.#users -= 1;
      if (this.#users === 0) for (const resolve of this.#idle.splice(0)) resolve();
    };
    return { engine: speech, translator, giveBack };
  }

  /** Nobody may have it lent from now on. Resolves when those who have it are done, and its process is gone. */
  async retire(): Promise<void> {
    if (this.#users > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    await this.engine.close();
  }
}
