/**
 * A stream on its way through ffmpeg: bytes in, samples out as soon as they are decoded. Neither side gets ahead of the
 * other by more than a pipe holds.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import type { Timer, Timers } from '../../timers.js';
import { SAMPLE_RATE } from '../sample-rate.js';
import { confinedLive, ENVIRONMENT, mostProcessorSeconds, type LiveJob } from './confinement.js';
import { processorMsOf } from './conversion.js';
import { failureOfConversion, noSamples, tooCostly, type HowItEnded } from './failures.js';
import { setPriority, USUAL } from './priority.js';
import { ProcessorAllowance } from './processor-allowance.js';

/** Written at once: what a pipe holds. */
const PIECE_BYTES = 65_536;
const BYTES_PER_SECOND = SAMPLE_RATE * 2;
/** How often its processor time is counted. */
const LOOK_MS = 1000;
/** Of its standard error, from the end. */
const KEPT_CHARACTERS = 8192;
/** Of its standard error without a second of audio in between. */
const MOST_CHARACTERS_WITHOUT_AUDIO = 2 ** 24;
/** A process that waits, and gave no samples since it was last seen waiting, has decoded all that was written ... */
const QUIET_MS = 50;
/** ... and after so long nobody waits for it any more. */
const LONGEST_QUIET_MS = 2000;

export interface LiveDecoderOptions extends LiveJob {
  /** A path, or a name in the directories where programs are. */
  ffmpeg: string;
  timers: Timers;
  /** Samples of 16 bits, mono at SAMPLE_RATE; the next ones are read when it resolves. Must not reject. */
  onSamples: (samples: Buffer) => Promise<void>;
}

export class LiveDecoder {
  /**
   * Why the stream could not be decoded; null: all of it was, or close() was called. Resolves once all samples were
   * handed over and no process is left.
   */
  readonly ended: Promise<Error | null>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #allowance = new ProcessorAllowance();
  readonly #watch: Timer;
  #failure: Error | null = null;
  #isClosed = false;
  #closed!: () => void;
  #isOver = false;
  #words = '';
  #charactersWithoutAudio = 0;
  #bytes = 0;

  constructor(private readonly options: LiveDecoderOptions) {
    const [program, ...args] = confinedLive(options.ffmpeg, options);
    const child = spawn(program, args, {
      cwd: '/',
      env: { ...ENVIRONMENT },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own, which is killed as a whole, and which a terminal's interrupt does not reach.
      detached: true,
    });
    this.#child = child;
    setPriority(child.pid, USUAL);
    child.stderr.setEncoding('latin1').on('data', (text: string) => this.#readErrorOutput(text));
    // It may end before its input does.
    child.stdin.on('error', () => undefined);
    this.#watch = options.timers.every(LOOK_MS, () => this.#look());
    const gone = new Promise<Pick<HowItEnded, 'error' | 'code' | 'signal'>>((resolve) => {
      child.on('error', (error) => resolve({ error, code: null, signal: null }));
      child.on('close', (code, signal) => resolve({ error: null, code, signal }));
    });
    const closed = new Promise<void>((resolve) => (this.#closed = resolve));
    const read = Promise.race([this.#read(), closed]);
    this.ended = Promise.all([gone, read]).then(([how]) => this.#failureOf(how));
  }

  /** Seconds of audio that came of it so far. */
  get decodedSeconds(): number {
    return this.#bytes / BYTES_PER_SECOND;
  }

  /** Resolves when ffmpeg has taken the bytes, or has ended. */
  async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length && !this.#isOver; at += PIECE_BYTES) {
      await this.#writePiece(bytes.subarray(at, at + PIECE_BYTES));
    }
  }

  /** No more input comes: the rest is decoded. */
  end(): void {
    this.#child.stdin.end();
  }

  /** Resolves when all that can come of what was written is there. ffmpeg does not say so: it is seen to wait. */
  async settled(): Promise<void> {
    const { timers } = this.options;
    const until = timers.now() + LONGEST_QUIET_MS;
    let before = -1;
    while (timers.now() < until && !this.#isOver) {
      // Before the first samples it may still be starting.
      if (this.#bytes > 0 && this.#bytes === before && isWaiting(this.#child.pid)) return;
      before = isWaiting(this.#child.pid) ? this.#bytes : -1;
      await new Promise<void>((resolve) => timers.after(QUIET_MS, resolve));
    }
  }

  /** Kills it, whatever it does. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#closed();
    this.#child.stdout.destroy();
    this.#kill();
  }

  #writePiece(piece: Buffer): Promise<void> {
    const { stdin } = this.#child;
    return new Promise((resolve) => {
      if (stdin.destroyed || stdin.writableEnded) resolve();
      // An error ends the stream, which `ended` reports.
      else stdin.write(piece, () => resolve());
    });
  }

  async #read(): Promise<void> {
    try {
      for await (const samples of this.#child.stdout as AsyncIterable<Buffer>) {
        if (this.#isClosed) return;
        this.#bytes += samples.length;
        this.#charactersWithoutAudio = 0;
        await this.options.onSamples(samples);
      }
    } catch (error) {
      // The pipe was closed with the process.
      if (!this.#isClosed) this.#failure ??= error as Error;
    }
  }

  #failureOf(how: Pick<HowItEnded, 'error' | 'code' | 'signal'>): Error | null {
    this.#isOver = true;
    this.#watch.cancel();
    this.#child.stdin.destroy();
    if (this.#isClosed) return null;
    if (this.#failure !== null) return this.#failure;
    const { container } = this.options;
    const hadItsTime = this.#allowance.usedMs >= 1000 * mostProcessorSeconds(this.options);
    const ended = { ...how, words: this.#words, refersElsewhere: false, hadItsTime };
    return failureOfConversion(ended, container) ?? (this.#bytes === 0 ? noSamples(ended, container) : null);
  }

  #look(): void {
    this.#allowance.count(processorMsOf(this.#child.pid), this.decodedSeconds);
    if (!this.#allowance.isUsedUp && this.#charactersWithoutAudio <= MOST_CHARACTERS_WITHOUT_AUDIO) return;
    this.#failure ??= tooCostly(this.options.container);
    this.#kill();
  }

  #kill(): void {
    const { pid, exitCode, signalCode } = this.#child;
    // One that has ended has given its number back.
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    process.kill(-pid, constants.signals.SIGKILL);
  }

  #readErrorOutput(text: string): void {
    this.#charactersWithoutAudio += text.length;
    this.#words = (this.#words + text).slice(-KEPT_CHARACTERS);
  }
}

/** For input, or for its output to be taken. */
function isWaiting(pid = 0): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('S');
  } catch {
    return true;
  }
}
