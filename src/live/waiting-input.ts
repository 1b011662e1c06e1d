import { IdleSignal } from '../idle-signal.js';
import { MOST_WAITING_BYTES_OF_SESSION, type InputMemory } from './input-memory.js';

/** Bytes of one session that wait for work, which count in the memory of all. */
export class WaitingInput {
  #bytes = 0;
  readonly #room = new IdleSignal(() => this.#bytes < MOST_WAITING_BYTES_OF_SESSION);

  constructor(private readonly memory: InputMemory) {}

  take(bytes: number): void {
    this.#bytes += bytes;
    this.memory.take(bytes);
  }

  /** All of it was released already if the session has ended. */
  release(bytes: number): void {
    const released = Math.min(bytes, this.#bytes);
    this.#bytes -= released;
    this.memory.release(released);
    this.#room.check();
  }

  releaseAll(): void {
    this.release(this.#bytes);
  }

  async whenRoom(): Promise<void> {
    await this.#room.whenIdle();
    await this.memory.whenRoom();
  }
}
