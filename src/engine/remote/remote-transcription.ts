import type { Segment, WindowResult } from '../binding.js';
import type { FileToTranscribe, OnWindow, Transcript, TranscriptPart, WindowUpdate } from '../types.js';
import type { TranscriptEnd, TranscriptionCall } from './engine-calls.js';
import type { CallControl } from '../process/pending-calls.js';
import type { PlacedWork } from './placement.js';
import { RepeatFilter } from './repeat-filter.js';

/** One file that the engine's process transcribes, and the results that are kept if the process dies. */
export class RemoteTranscription {
  readonly #filter = new RepeatFilter<Segment>();
  readonly #finished: Map<number, WindowResult>;
  #doneSeconds = 0;
  #texts: string[] = [];
  #segments: Segment[] = [];

  constructor(
    private readonly file: FileToTranscribe,
    private readonly onWindow: OnWindow | undefined,
  ) {
    this.#finished = new Map(file.resumeFrom);
  }

  /** The work that is left. */
  work(): PlacedWork {
    const { accountId, background = false, seconds } = this.file;
    return { kind: 'speech', accountId, background, amount: Math.max(0, seconds - this.#doneSeconds) };
  }

  /** The call, which resumes after the finished windows. */
  request(): TranscriptionCall {
    this.#beginAttempt();
    const request = { ...this.file, resumeFrom: [...this.#finished] };
    delete request.origin;
    delete request.signal;
    delete request.isStreamed;
    return request;
  }

  update(update: WindowUpdate, call: CallControl): void {
    const { finished } = update;
    if (finished !== null) {
      this.#finished.set(finished.index, finished.result);
      call.checkpoint();
    }
    this.#report(update);
  }

  /** The complete transcript, when the call has ended. */
  transcript({ last, ...end }: TranscriptEnd): Transcript {
    if (last !== null) this.#report({ finished: null, ...last });
    return { ...end, text: this.#texts.join(''), segments: this.#segments };
  }

  /** Discards text that was not streamed to a client: a repeat may produce other text. */
  #beginAttempt(): void {
    this.#filter.begin();
    if (this.file.isStreamed === true) return;
    this.#texts = [];
    this.#segments = [];
  }

  /** The seconds that are done never decrease, because a repeat starts from the finished windows. */
  #report({ finished, seconds, language, part }: WindowUpdate): void {
    this.#doneSeconds = Math.max(this.#doneSeconds, seconds);
    const fresh = part === null ? null : this.#keep(part);
    this.onWindow?.({ finished, seconds: this.#doneSeconds, language, part: fresh });
  }

  /** Stores the part. Returns what is to be passed on. */
  #keep(part: TranscriptPart): TranscriptPart | null {
    if (this.file.isStreamed !== true) {
      this.#append(part.text, part.segments);
      return null;
    }
    const added = this.#filter.add(part.text, part.segments);
    if (added === null) return null;
    this.#append(added.text, added.items);
    return { language: part.language, text: added.text, segments: added.items };
  }

  #append(text: string, segments: readonly Segment[]): void {
    this.#texts.push(text);
    for (const segment of segments) this.#segments.push(segment);
  }
}
