/**
 * How long a client waits for the shell alone. The lag of the event loop's timers does not show it. A request takes
 * several turns of the loop (accept, read, answer), and between them the thread may be runnable and get no core. So
 * once a second a request of our own goes the same way, over a socket of this process that has neither limits nor logs.
 */
import { createServer, request, type Server } from 'node:http';
import { randomBytes } from 'node:crypto';
import type { Timer, Timers } from '../../timers.js';

const PERIOD_MS = 1000;

export interface ResponsivenessOptions {
  timers: Timers;
  /** Seconds from asking to the answer's end. */
  observe: (seconds: number) => void;
  /** Called when it could not be measured. */
  onError: (error: unknown) => void;
}

export class Responsiveness {
  // An abstract socket of Linux: no file that a cleaner could remove or a crash leave behind.
  readonly #path = `\0verbatim-responsiveness-${randomBytes(16).toString('hex')}`;
  readonly #server: Server = createServer((_, res) => res.end());
  readonly #timer: Timer;
  #asking = false;

  constructor(private readonly options: ResponsivenessOptions) {
    this.#server.on('error', options.onError);
    this.#server.listen(this.#path).unref();
    this.#timer = options.timers.every(PERIOD_MS, () => this.#ask());
  }

  close(): void {
    this.#timer.cancel();
    this.#server.close();
  }

  /** One at a time: a wait of many seconds is one measurement, not a crowd of them. */
  #ask(): void {
    if (this.#asking) return;
    this.#asking = true;
    const { observe, onError } = this.options;
    const start = performance.now();
    const asked = request({ socketPath: this.#path, agent: false }, (res) => {
      res.resume().once('end', () => observe((performance.now() - start) / 1000));
    });
    asked.once('error', onError);
    asked.once('close', () => (this.#asking = false));
    asked.end();
  }
}
