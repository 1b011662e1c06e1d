/** Cuts connections whose client does not read its answer: unread bytes are the server's memory. */
import type { Socket } from 'node:net';
import type { Timer, Timers } from '../../timers.js';

export interface StalledAnswersOptions {
  /** How long an answer may wait without any of it leaving, milliseconds. */
  limitMs: number;
  timers: Timers;
  onCut: () => void;
}

interface Progress {
  takenBytes: number;
  /** Looks in a row that found bytes waiting and none of them gone. */
  looks: number;
}

const LOOKS = 6;

/** Progress is bytes that the kernel takes. A slow reader shows it in steps as large as the kernel's buffer. */
export class StalledAnswers {
  readonly #progress = new Map<Socket, Progress>();
  readonly #timer: Timer;

  constructor(private readonly options: StalledAnswersOptions) {
    this.#timer = options.timers.every(options.limitMs / LOOKS, () => this.#look());
  }

  watch(socket: Socket): void {
    this.#progress.set(socket, { takenBytes: 0, looks: 0 });
    socket.once('close', () => this.#progress.delete(socket));
  }

  close(): void {
    this.#timer.cancel();
  }

  #look(): void {
    for (const [socket, progress] of this.#progress) {
      const waiting = socket.writableLength;
      const takenBytes = socket.bytesWritten - waiting;
      if (waiting === 0 || takenBytes !== progress.takenBytes) {
        progress.takenBytes = takenBytes;
        progress.looks = 0;
      } else if (++progress.looks === LOOKS) {
        // Not destroy(): the kernel would keep its buffer and go on sending.
        socket.resetAndDestroy();
        this.options.onCut();
      }
    }
  }
}
