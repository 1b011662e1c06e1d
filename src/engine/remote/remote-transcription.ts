import type { Backlog, BacklogPlace } from '../speech/backlog.js';
import type { FileToTranscribe, HeardPart } from '../types.js';
import type { Segment, WindowResult } from '../binding.js';
import type { TranscriptionNews, TranscriptionAsked } from './engine-calls.js';
import type { CallControl } from './pending-calls.js';
import { ToldOnce } from './told-once.js';

/** One file that the engine's process transcribes, and what of that outlives the process. */
export class RemoteTranscription {
  readonly #told = new ToldOnce<Segment>();
  readonly #known = new Map<number, WindowResult>();
  #durationSeconds: number | null;
  #admission: Promise<void> | null = null;
  #place: BacklogPlace | null = null;
  #doneSeconds = 0;

  /** Throws nothing for a file that was let in before: `after`. */
  constructor(
    private readonly file: FileToTranscribe,
    private readonly backlog: Pick<Backlog, 'admit' | 'readmit'>,
  ) {
    this.#durationSeconds = null;
    if (file.after !== undefined) this.#enter(file.after.durationSeconds);
  }

  /** From where it has come to. */
  request(): TranscriptionAsked {
    const { path, accountId, language, task, align, describe, temperature, prompt, background } = this.file;
    this.#told.begin();
    return {
      ...{ path, accountId, language, prompt, background, maxSeconds: this.file.maxSeconds },
      ...(task === undefined ? {} : { task }),
      ...(align === undefined ? {} : { align }),
      ...(describe === undefined ? {} : { describe }),
      ...(temperature === undefined ? {} : { temperature }),
      durationSeconds: this.#durationSeconds,
      counts: this.file.covers !== undefined,
      tells: this.file.heard !== undefined,
      known: [...this.#known],
    };
  }

  hear(progress: TranscriptionNews, call: CallControl): void {
    if (progress.kind === 'counted') this.file.covers?.(progress.seconds);
    else if (progress.kind === 'measured') this.#measured(progress.seconds, call);
    else if (progress.kind === 'window') {
      this.#known.set(progress.index, progress.result);
      call.cameFurther();
    } else if (progress.kind === 'transcribed') this.#transcribed(progress.seconds);
    else this.#heard(progress);
  }

  release(): void {
    this.#place?.release();
  }

  #measured(seconds: number, call: CallControl): void {
    this.#admission ??= this.#admit(seconds);
    this.#admission.then(
      () => call.proceed(),
      (error: unknown) => call.fail(error),
    );
  }

  async #admit(seconds: number): Promise<void> {
    await this.file.measured?.(seconds);
    this.file.signal?.throwIfAborted();
    this.#enter(seconds);
  }

  #enter(durationSeconds: number): void {
    const { accountId, after, background } = this.file;
    const request = { accountId, audioSeconds: durationSeconds, background: background === true };
    const isLetIn = after !== undefined || request.background;
    this.#place = isLetIn ? this.backlog.readmit(request) : this.backlog.admit(request);
    this.#durationSeconds = durationSeconds;
  }

  /** A repeat begins with what was done before. */
  #transcribed(seconds: number): void {
    if (seconds <= this.#doneSeconds) return;
    this.#place?.advance(seconds - this.#doneSeconds);
    this.#doneSeconds = seconds;
    this.file.transcribed?.(seconds);
  }

  #heard({ language, text, segments }: HeardPart): void {
    const told = this.#told.add(text, segments);
    if (told !== null) this.file.heard?.({ language, text: told.text, segments: told.items });
  }
}
