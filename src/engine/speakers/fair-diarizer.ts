/** Whose file the speaker models read next: accounts take turns, as they do for everything that computes. */
import { costLeftOf, FairQueue, type Waiting } from '../fair-queue.js';
import { SAMPLE_RATE } from '../sample-rate.js';
import type { Diarizer } from '../types.js';
import type { FileToDiarize } from './file-to-diarize.js';
import { SessionSpeakers } from './session-speakers.js';
import type { SpeakerEngine } from './speaker-engine.js';
import type { SpeakerTurn } from './speaker-turn.js';

export interface FairDiarizerOptions {
  engine: Pick<SpeakerEngine, 'diarize' | 'voicesIn' | 'close'>;
  /** Languages in which the models distinguish speakers (ISO 639-1). */
  languages: readonly string[] | 'any';
  observer?: DiarizationObserver;
  now?: () => number;
}

export interface DiarizationObserver {
  diarizationDone(measurement: { audioSeconds: number; waitMs: number; runMs: number }): void;
}

/** Files that are diarized at once: their windows take turns in the process of the models. */
export const DIARIZED_AT_ONCE = 4;
/** Of these, so that one that uploads many does not keep the others waiting for the end of a file. */
export const DIARIZED_PER_ACCOUNT = 2;
/** Longer files leave one place to shorter ones: each takes minutes. */
export const SHORT_FILE_SECONDS = 600;

/** Seconds of audio by which an account may fall behind without losing the claim, while its files have their places. */
const LONGEST_CLAIM_SECONDS = 3600;

type AccountFile = FileToDiarize & { accountId: string; background?: boolean };

class WaitingFile implements Waiting {
  begin!: () => void;
  readonly begun = new Promise<void>((resolve) => (this.begin = resolve));

  constructor(private readonly file: AccountFile) {}

  get accountId(): string {
    return this.file.accountId;
  }

  get seconds(): number {
    return this.file.durationSeconds;
  }

  get costLeft(): number {
    return costLeftOf(this.seconds, { background: this.file.background === true });
  }

  get isShort(): boolean {
    return this.seconds <= SHORT_FILE_SECONDS;
  }
}

export class FairDiarizer implements Diarizer {
  readonly #options: FairDiarizerOptions;
  /** Waiting and running files: an account whose file runs keeps its place in the order. */
  readonly #queue = new FairQueue<WaitingFile>(LONGEST_CLAIM_SECONDS);
  readonly #running = new Set<WaitingFile>();

  constructor(options: FairDiarizerOptions) {
    this.#options = options;
  }

  serves(language: string): boolean {
    const { languages } = this.#options;
    return languages === 'any' || languages.includes(language);
  }

  /** How many wait is for those to bound who let requests in. */
  async diarize({ accountId, background = false, ...file }: AccountFile): Promise<SpeakerTurn[]> {
    const { signal } = file;
    signal?.throwIfAborted();
    const { engine, observer, now = () => performance.now() } = this.#options;
    const waiting = new WaitingFile({ ...file, accountId, background });
    const arrivedAt = now();
    try {
      await this.#turn(waiting, signal);
      const begunAt = now();
      const turns = await engine.diarize(file);
      const measured = { waitMs: begunAt - arrivedAt, runMs: now() - begunAt };
      observer?.diarizationDone({ audioSeconds: file.durationSeconds, ...measured });
      return turns;
    } finally {
      this.#running.delete(waiting);
      this.#queue.remove(waiting);
      this.#advance();
    }
  }

  /** The models are loaded now, so that the first stretch need not wait for them. */
  follow(): SessionSpeakers {
    const { engine } = this.#options;
    engine.voicesIn(new Int16Array(SAMPLE_RATE / 10), undefined).catch(() => undefined);
    return new SessionSpeakers(engine);
  }

  stats(): { waiting: number; running: number } {
    const running = this.#running.size;
    return { waiting: [...this.#queue.items()].length - running, running };
  }

  /** Waiting and running files are rejected with `shutting_down`. */
  close(): Promise<void> {
    return this.#options.engine.close();
  }

  /** Resolves when it has a place; rejects with the signal's reason. */
  async #turn(file: WaitingFile, signal: AbortSignal | undefined): Promise<void> {
    this.#queue.add(file);
    this.#advance();
    if (signal === undefined) return file.begun;
    await new Promise<void>((resolve, reject) => {
      const aborted = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', aborted, { once: true });
      void file.begun.then(() => {
        signal.removeEventListener('abort', aborted);
        resolve();
      });
    });
  }

  #advance(): void {
    const hasPlace = (file: WaitingFile): boolean => this.#hasPlaceFor(file);
    for (let file = this.#queue.next(hasPlace); file !== undefined; file = this.#queue.next(hasPlace)) {
      this.#running.add(file);
      this.#queue.charge(file, file.seconds);
      file.begin();
    }
  }

  #hasPlaceFor(file: WaitingFile): boolean {
    const { accountId, isShort } = file;
    const running = [...this.#running];
    if (running.length >= DIARIZED_AT_ONCE || this.#running.has(file)) return false;
    const long = running.filter((other) => !other.isShort).length;
    if (!isShort && long >= DIARIZED_AT_ONCE - 1) return false;
    return running.filter((other) => other.accountId === accountId).length < DIARIZED_PER_ACCOUNT;
  }
}
