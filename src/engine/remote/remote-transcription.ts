import type { Backlog, BacklogPlace } from '../speech/backlog.js';
import type { FileToTranscribe, HeardPart, Transcript } from '../types.js';
import type { Segment, WindowResult } from '../binding.js';
import type { TranscriptEnd, TranscriptionNews, TranscriptionAsked, WindowNews } from './engine-calls.js';
import type { CallControl } from './pending-calls.js';
import type { PlacedWork } from './placement.js';
import { ToldOnce } from './told-once.js';

/** A file is taken to be as long until it is measured: a window of most models. */
const UNMEASURED_SECONDS = 30;

/** One file that the engine's process transcribes, and what of that outlives the process. */
export class RemoteTranscription {
  readonly #told = new ToldOnce<Segment>();
  readonly #known = new Map<number, WindowResult>();
  #durationSeconds: number | null;
  #admission: Promise<void> | null = null;
  #place: BacklogPlace | null = null;
  #doneSeconds = 0;
  /** What was heard so far. */
  #texts: string[] = [];
  #segments: Segment[] = [];

  /** Throws nothing for a file that was let in before: `after`. */
  constructor(
    private readonly file: FileToTranscribe,
    private readonly backlog: Pick<Backlog, 'admit' | 'readmit'>,
  ) {
    this.#durationSeconds = null;
    if (file.after !== undefined) this.#enter(file.after.durationSeconds);
  }

  /** What is left of it. */
  work(): PlacedWork {
    const { accountId, background = false } = this.file;
    const amount = this.#place?.audioLeftSeconds ?? UNMEASURED_SECONDS;
    return { kind: 'speech', accountId, background, amount };
  }

  /** From where it has come to. */
  request(): TranscriptionAsked {
    const { path, accountId, language, task, align, describe, temperature, prompt, background } = this.file;
    this.#beginAnew();
    return {
      ...{ path, accountId, language, prompt, background, maxSeconds: this.file.maxSeconds },
      ...(task === undefined ? {} : { task }),
      ...(align === undefined ? {} : { align }),
      ...(describe === undefined ? {} : { describe }),
      ...(temperature === undefined ? {} : { temperature }),
      durationSeconds: this.#durationSeconds,
      counts: this.file.covers !== undefined,
      known: [...this.#known],
    };
  }

  hear(progress: TranscriptionNews, call: CallControl): void {
    if (progress.kind === 'counted') this.file.covers?.(progress.seconds);
    else if (progress.kind === 'measured') this.#measured(progress.seconds, call);
    else this.#window(progress, call);
  }

  /** All that was heard, now that it has ended. */
  transcript(end: TranscriptEnd): Transcript {
    const { durationSeconds, language, languageProbability, unsureWindows, timings, last } = end;
    if (last !== null) this.#hear(last);
    const [text, segments] = [this.#texts.join(''), this.#segments];
    return { durationSeconds, language, languageProbability, text, segments, unsureWindows, timings };
  }

  release(): void {
    this.#place?.release();
  }

  #window({ finished, ...news }: WindowNews, call: CallControl): void {
    if (finished !== undefined) {
      this.#known.set(finished.index, finished.result);
      call.cameFurther();
    }
    this.#hear(news);
  }

  #hear({ transcribedSeconds, heard }: WindowNews): void {
    if (transcribedSeconds !== undefined) this.#transcribed(transcribedSeconds);
    if (heard !== undefined) this.#heard(heard);
  }

  #measured(seconds: number, call: CallControl): void {
    this.#admission ??= this.#admit(seconds);
    this.#admission.then(
      () => call.proceed(),
      (error: unknown) => call.fail(error),
    );
  }

  /** What is told as a duration is not told as counted. */
  async #admit(seconds: number): Promise<void> {
    this.file.covers?.(seconds);
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

  /** Of what nobody was told nothing has to stay as it was. */
  #beginAnew(): void {
    this.#told.begin();
    if (this.file.heard !== undefined) return;
    this.#texts = [];
    this.#segments = [];
  }

  #heard({ language, text, segments }: HeardPart): void {
    if (this.file.heard === undefined) {
      this.#keep(text, segments);
      return;
    }
    const told = this.#told.add(text, segments);
    if (told === null) return;
    this.#keep(told.text, told.items);
    this.file.heard({ language, text: told.text, segments: told.items });
  }

  #keep(text: string, segments: readonly Segment[]): void {
    this.#texts.push(text);
    for (const segment of segments) this.#segments.push(segment);
  }
}
