/** Has stretches of a session's utterances transcribed, and reports the results in the order of the audio. */
import { IdleSignal } from '../idle-signal.js';
import { SAMPLE_RATE } from '../engine/sample-rate.js';
import { joinTexts } from '../engine/transcript-text.js';
import type { RecognisedUtterance, UtteranceToRecognise, WorkOrigin } from '../engine/types.js';
import type { Timers } from '../timers.js';
import type { SpeechOfModel } from '../transcription/engine-lease.js';
import { requestError } from '../transcription/request-errors.js';
import type { FailedResult, FinalResult, PartialResult } from './events.js';
import type { LiveSettings } from './options.js';
import { PartialPace } from './partial-pace.js';
import { RecentConfidence } from './recent-confidence.js';
import { SpokenLanguage } from './spoken-language.js';

/** A final result is due so soon after the end of its audio. */
const DUE_MS = 500;
/** Of the language of a result without text, where none is known. */
const DEFAULT_LANGUAGE = 'en';

export interface Stretch {
  utterance: number;
  startSample: number;
  samples: Int16Array;
}

export type EndedStretch = Stretch & Pick<FinalResult, 'endedBy'>;

export interface FinalMeasurement {
  /** Of its audio. */
  seconds: number;
  /** From the end of its audio to its text. */
  lagMs: number;
  /** The slots' time that it used. */
  workMs: number;
}

/** Receives measurements as they happen. */
export interface DecoderObserver {
  finalResult(measurement: FinalMeasurement): void;
  /** One that may change; `lagMs`: from the end of its audio to its text. */
  partialResult(measurement: { lagMs: number }): void;
  /** One was left out, or the next ones will be: there is no room for them. */
  partialShed(): void;
}

export interface DecoderParts {
  engine: Pick<SpeechOfModel, 'info' | 'recognise'>;
  accountId: string;
  requestId: string;
  timers: Timers;
  /** Aborts all work. */
  signal: AbortSignal;
  emit: (event: PartialResult | FinalResult | FailedResult) => void;
  observer: DecoderObserver;
  /** The part of the room of final results that is free, from 0 to 1. */
  room: () => number;
}

interface Pending {
  utterance: number;
  abort: AbortController;
}

export class UtteranceDecoder {
  settings: LiveSettings;
  readonly #spoken = new SpokenLanguage();
  readonly #confidence: RecentConfidence;
  readonly #pace = new PartialPace();
  readonly #pending = new Set<Pending>();
  readonly #settled = new IdleSignal(() => this.#pending.size < this.#most);
  #most = 1;
  #order: Promise<void> = Promise.resolve();
  #partial: Pending | null = null;

  constructor(
    private readonly parts: DecoderParts,
    settings: LiveSettings,
  ) {
    this.settings = settings;
    this.#confidence = new RecentConfidence(parts.engine.info.minAverageLogProbability);
  }

  /** Resolves when fewer than so many final results are on their way. */
  async untilFewerThan(most: number): Promise<void> {
    while (this.#pending.size >= most) {
      this.#most = most;
      await this.#settled.whenIdle();
    }
  }

  /** The final result of a stretch; without samples, that nothing was spoken in it. */
  final(stretch: EndedStretch): void {
    this.giveUpPartial();
    const pending = { utterance: stretch.utterance, abort: new AbortController() };
    this.#pending.add(pending);
    const recognised = stretch.samples.length === 0 ? null : this.#recognise(stretch, pending, DUE_MS);
    // It may fail before its turn comes.
    recognised?.catch(() => undefined);
    this.#order = this.#order.then(async () => {
      const event = await this.#outcome(stretch, recognised);
      this.#pending.delete(pending);
      if (!pending.abort.signal.aborted && !this.parts.signal.aborted) this.parts.emit(event);
      this.#settled.check();
    });
  }

  /** A result of an utterance that goes on, if one is due. It is dropped when the final result is asked for. */
  partial(stretch: () => Stretch): void {
    const { timers, observer, room } = this.parts;
    if (this.#partial !== null || this.#pending.size > 0 || !this.#pace.isDue(timers.now())) return;
    if (!this.#pace.hasRoom(room(), timers.now())) {
      observer.partialShed();
      return;
    }
    const taken = stretch();
    const pending = { utterance: taken.utterance, abort: new AbortController() };
    this.#partial = pending;
    const begun = timers.now();
    void this.#recognise(taken, pending, null)
      .then(
        (result) => {
          if (pending.abort.signal.aborted) return;
          const lagMs = timers.now() - begun;
          observer.partialResult({ lagMs });
          if (this.#pace.took(lagMs, room(), timers.now())) observer.partialShed();
          if (this.#confidence.wouldPass(result)) this.parts.emit({ type: 'partial', ...this.#decoded(taken, result) });
        },
        // It fails as the final result will, which says so.
        () => this.#pace.gaveUp(timers.now()),
      )
      .finally(() => {
        if (this.#partial === pending) this.#partial = null;
      });
  }

  /** The text of a stretch now, to decide whether its sentence is over; null: it could not be had, or was given up. */
  async textOf(stretch: Stretch): Promise<string | null> {
    this.giveUpPartial();
    const pending = { utterance: stretch.utterance, abort: new AbortController() };
    this.#partial = pending;
    try {
      const result = await this.#recognise(stretch, pending, DUE_MS);
      return this.#decoded(stretch, result).text;
    } catch {
      return null;
    } finally {
      if (this.#partial === pending) this.#partial = null;
    }
  }

  giveUpPartial(): void {
    if (this.#partial === null) return;
    this.#partial.abort.abort(new Error('Its final result was asked for.'));
    this.#partial = null;
    this.#pace.gaveUp(this.parts.timers.now());
  }

  /** No result of this utterance is reported any more. */
  abandon(utterance: number): void {
    if (this.#partial?.utterance === utterance) this.giveUpPartial();
    for (const pending of this.#pending) {
      if (pending.utterance === utterance) pending.abort.abort(new Error('The client abandoned its utterance.'));
    }
  }

  async #recognise(
    { startSample, samples }: Stretch,
    { abort }: Pending,
    dueInMs: UtteranceToRecognise['dueInMs'],
  ): Promise<RecognisedUtterance> {
    const { engine, accountId, requestId, signal, timers, observer } = this.parts;
    const { language, detectsEach, prompt, words } = this.settings;
    const begun = timers.now();
    // Of its own: a crash is counted against the utterance, not against the session.
    const origin: WorkOrigin = { requestId, accountId, background: false, sha256: null };
    const guess = this.#spoken.leader;
    const result = await engine.recognise({
      ...{ samples, startSample, accountId, origin, dueInMs, align: words },
      signal: AbortSignal.any([signal, abort.signal]),
      language: language ?? (detectsEach ? 'auto' : this.#spoken.next),
      ...(guess === null ? {} : { languageGuess: guess }),
      ...(prompt === null ? {} : { prompt }),
    });
    if (dueInMs !== null) {
      const lagMs = timers.now() - begun;
      observer.finalResult({ seconds: samples.length / SAMPLE_RATE, lagMs, workMs: result.workMs });
    }
    return result;
  }

  async #outcome(
    stretch: EndedStretch,
    recognised: Promise<RecognisedUtterance> | null,
  ): Promise<FinalResult | FailedResult> {
    const { endedBy } = stretch;
    try {
      const result = await recognised;
      if (result === null) return { type: 'final', ...this.#nothing(stretch), endedBy };
      if (result.segments.length > 0) this.#spoken.add(result, stretch.samples.length / SAMPLE_RATE);
      if (!this.#confidence.passes(result)) return { type: 'final', ...this.#nothing(stretch), endedBy };
      return { type: 'final', ...this.#decoded(stretch, result), endedBy };
    } catch (error) {
      const { utterance, startSeconds, endSeconds } = this.#nothing(stretch);
      return { type: 'failed', utterance, startSeconds, endSeconds, endedBy, error: requestError(error) };
    }
  }

  #decoded(stretch: Stretch, { segments, language }: RecognisedUtterance): Omit<PartialResult, 'type'> {
    const text = joinTexts(
      segments.map((segment) => segment.text),
      language,
    );
    return { ...this.#nothing(stretch), text, segments, language };
  }

  #nothing({ utterance, startSample, samples }: Stretch): Omit<PartialResult, 'type'> {
    const language = this.settings.language ?? this.#spoken.leader ?? DEFAULT_LANGUAGE;
    const startSeconds = startSample / SAMPLE_RATE;
    const endSeconds = (startSample + samples.length) / SAMPLE_RATE;
    return { utterance, startSeconds, endSeconds, text: '', segments: [], language };
  }
}
