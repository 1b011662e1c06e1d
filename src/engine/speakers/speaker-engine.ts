import { extname, join } from 'node:path';
import type { Timers } from '../../timers.js';
import { EngineError } from '../native-errors.js';
import { forking } from '../process/child.js';
import { Supervisor, type SupervisorObserver } from '../process/supervisor.js';
import { samplesToText } from '../remote/sample-text.js';
import { SAMPLE_RATE } from '../sample-rate.js';
import type { DiarizationOptions } from './diarization.js';
import type { FileToDiarize } from './file-to-diarize.js';
import { fromPlainPieces } from './plain-voices.js';
import type { SpeakerCalls, SpeakerModelFiles } from './speaker-calls.js';
import type { SpeakerTurn } from './speaker-turn.js';
import type { VoicePiece } from './stretch-voices.js';

/** Traits of a pair of models, chosen on conversations. */
export interface SpeakerTraits {
  /** What one voice more must explain, see ClusteringOptions. */
  threshold: number;
  /** Who speaks for less in all is taken for somebody else, unless all do. */
  minSeconds: number;
}

export interface SpeakerEngineOptions extends SpeakerModelFiles, SpeakerTraits {
  timers?: Timers;
  observer?: SupervisorObserver;
}

/** The most that a request may ask for. */
export const MOST_SPEAKERS = 20;

const STEP_SECONDS = 2.5;

/** Of one process; windows of the files in it take turns. */
const LIMITS = { periodMs: 2000, silentPingsBeforeReady: 15, silentPings: 15, memoryBytes: 1.5 * 2 ** 30 };
const IDLE_MS = 60_000;

/**
 * Steps of nice(2) below this process. The engine computes for requests that a client waits for: its threads are 15
 * lower than the thread that answers; in one process with it, 10. Diarization comes after them.
 */
const NICENESS = 19;
/**
 * Of a second of audio, beside other files and beneath all that has a higher priority. The heartbeat notices a hang.
 */
const MOST_SECONDS_PER_SECOND = 4;

/** Heaps of many threads keep holes. */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };

/** Finds who speaks when, in a process of its own that is started when it is needed. */
export class SpeakerEngine {
  readonly #process: Supervisor<SpeakerCalls>;
  readonly #traits: SpeakerTraits;
  #lastUsed = 0;

  constructor({ segmentation, embedding, threads, timers, observer, ...traits }: SpeakerEngineOptions) {
    this.#traits = traits;
    this.#process = new Supervisor<SpeakerCalls>({
      name: 'the speaker process',
      limits: LIMITS,
      idleMs: IDLE_MS,
      fatalError: (how) => new EngineError('internal_error', `The speaker process died of this request: ${how}.`),
      start: forking({
        main: join(__dirname, `speaker-process${extname(__filename)}`),
        env: ENVIRONMENT,
        niceness: NICENESS,
      }),
      settings: () => ({ segmentation, embedding, threads }),
      ...(timers === undefined ? {} : { timers }),
      ...(observer === undefined ? {} : { observer }),
    });
  }

  /**
   * Turns, by their start. Rejects with the signal's reason, or with
   *
   * - EngineError: the file's fault, `invalid_model`, or `internal_error` where the file crashes its process, or takes
   *   more than a minute and four times its own length;
   * - `overloaded`;
   * - `shutting_down`: after close().
   */
  async diarize(file: FileToDiarize): Promise<SpeakerTurn[]> {
    const { path, durationSeconds, minSpeakers = 1, maxSpeakers = MOST_SPEAKERS, signal } = file;
    const options: DiarizationOptions = { ...this.#traits, minSpeakers, maxSpeakers, stepSeconds: STEP_SECONDS };
    const request = {
      request: () => ({ path, options }),
      signal,
      limitMs: 60_000 + 1000 * MOST_SECONDS_PER_SECOND * durationSeconds,
    };
    const turns = await this.#process.call('diarize', request).finally(() => (this.#lastUsed = Date.now()));
    if (areTurns(turns, durationSeconds)) return turns;
    throw new EngineError('internal_error', 'The speaker process reported turns that cannot be.');
  }

  /**
   * Pieces of speech in a stretch of a live session, with their voices, by their start. Samples: mono at 16 kHz.
   * Rejects as diarize() does.
   */
  async voicesIn(samples: Int16Array, signal: AbortSignal | undefined): Promise<VoicePiece[]> {
    const seconds = samples.length / SAMPLE_RATE;
    const request = {
      request: () => ({ samples: samplesToText(samples) }),
      signal,
      limitMs: 60_000 + 1000 * MOST_SECONDS_PER_SECOND * seconds,
    };
    const pieces = await this.#process.call('voices', request).finally(() => (this.#lastUsed = Date.now()));
    return fromPlainPieces(pieces, seconds);
  }

  /**
   * Files that are not done; the process that works on them, null: there is none; when the last file ended,
   * milliseconds since 1970.
   */
  stats(): { pending: number; pid: number | null; lastUsed: number } {
    const { pending, pid } = this.#process;
    return { pending, pid, lastUsed: this.#lastUsed };
  }

  /** Ends its process, until the next file; not while it has files. Resolves when it is gone. */
  unload(): Promise<void> {
    return this.#process.rest();
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}

/** What decoders of the same file may differ by, seconds. */
const TOLERANCE = 1;

/** The process has read a file of anybody's. */
function areTurns(value: unknown, durationSeconds: number): value is SpeakerTurn[] {
  if (!Array.isArray(value)) return false;
  let last = 0;
  return value.every((turn: unknown) => {
    if (typeof turn !== 'object' || turn === null) return false;
    const { startSeconds, endSeconds, speaker } = turn as Record<keyof SpeakerTurn, unknown>;
    if (typeof startSeconds !== 'number' || typeof endSeconds !== 'number') return false;
    const isInOrder = startSeconds >= last && endSeconds > startSeconds;
    last = startSeconds;
    return isInOrder && endSeconds <= durationSeconds + TOLERANCE && /^S\d{1,2}$/.test(String(speaker));
  });
}
