/** Has stretches of a session's utterances transcribed, and reports the results in the order of the audio. */
import type { Segment } from '../engine/binding.js';
import { IdleSignal } from '../idle-signal.js';
import { SAMPLE_RATE } from '../engine/sample-rate.js';
import { joinTexts } from '../engine/transcript-text.js';
import type { RecognisedUtterance, UtteranceToRecognise, WorkOrigin } from '../engine/types.js';
import type { Timers } from '../timers.js';
import type { SpeechOfModel } from '../transcription/engine-lease.js';
import { requestError } from '../transcription/request-errors.js';
import { CommittedText } from './committed-text.js';
import type { FailedResult, FinalResult, PartialResult } from './events.js';
import { SEARCH_SECONDS, type LiveSettings } from './options.js';
import { PartialPace } from './partial-pace.js';
import { RecentConfidence } from './recent-confidence.js';
import type { SlotUse } from './slot-use.js';
import { spokenBy, type StretchSpeakers } from './session-speakers.js';
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
  /** Of its audio; 0: it only decides whether a sentence is over, and the audio is decoded again. */
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
  noUtterance: (atSeconds: number) => void;
  observer: DecoderObserver;
  /** The part of the room of final results that is free, from 0 to 1. */
  room: () => number;
  slotUse: SlotUse;
  /** Default, and null: nobody asks who speaks. */
  speakers?: StretchSpeakers | null;
}

interface Pending {
  utterance: number;
  abort: AbortController;
}

/** A stretch that goes on. */
interface Running extends Pick<Stretch, 'utterance' | 'startSample'> {
  committed: CommittedText;
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
  #running: Running | null = null;

  constructor(
    private readonly parts: DecoderParts,
    settings: LiveSettings,
  ) {
    this.settings = settings;
    this.#confidence = new RecentConfidence(parts.engine.info.minAverageLogProbability);
  }

  /** Whether an utterance is to be decoded while it goes on. */
  get wantsPartials(): boolean {
    const { interim, stableSeconds } = this.settings;
    return interim || (stableSeconds !== null && this.parts.engine.info.commits !== null);
  }

  /** Resolves when fewer than so many final results are on their way. */
  async untilFewerThan(most: number): Promise<void> {
    while (this.#pending.size >= most) {
      this.#most = most;
      await this.#settled.whenIdle();
    }
  }

  /** Resolves when no result of what was asked for so far is left to be reported. */
  async untilAllReported(): Promise<void> {
    await this.untilFewerThan(1);
    await this.#order;
  }

  /** Reports, behind the results asked for so far, that there is no utterance at this sample. */
  noUtterance(sample: number): void {
    this.#order = this.#order.then(() => {
      if (!this.parts.signal.aborted) this.parts.noUtterance(sample / SAMPLE_RATE);
    });
  }

  /** The final result of a stretch; without samples, that nothing was spoken in it. */
  final(stretch: EndedStretch): void {
    this.giveUpPartial();
    const pending = { utterance: stretch.utterance, abort: new AbortController() };
    this.#pending.add(pending);
    const committed = this.#committedOf(stretch);
    this.#running = null;
    const recognised = stretch.samples.length === 0 ? null : this.#recognise(stretch, committed, pending, DUE_MS);
    // It may fail before its turn comes.
    recognised?.catch(() => undefined);
    const turns = recognised === null ? undefined : this.parts.speakers?.turnsIn(stretch, this.parts.signal);
    this.#order = this.#order.then(async () => {
      const event = await spokenBy(await this.#outcome(stretch, committed, recognised), turns, this.parts.speakers);
      this.#pending.delete(pending);
      if (!pending.abort.signal.aborted && !this.parts.signal.aborted) this.parts.emit(event);
      this.#settled.check();
    });
  }

  /**
   * A result of an utterance that goes on, if one is due and a slot is free. It is given up when its final result is
   * asked for, or another session's that finds no slot.
   */
  partial(stretch: () => Stretch): void {
    const { timers, observer, room, slotUse } = this.parts;
    if (this.#partial !== null || this.#pending.size > 0 || !this.#pace.isDue(timers.now()) || !slotUse.isFree) return;
    if (!this.#pace.hasRoom(room(), timers.now())) {
      observer.partialShed();
      return;
    }
    const taken = stretch();
    const pending = { utterance: taken.utterance, abort: new AbortController() };
    this.#partial = pending;
    const end = slotUse.beginPartial(() => this.giveUpPartial());
    const begun = timers.now();
    const committed = this.#committedOf(taken);
    void this.#recognise(taken, committed, pending, null)
      .then(
        (result) => {
          if (pending.abort.signal.aborted) return;
          const lagMs = timers.now() - begun;
          observer.partialResult({ lagMs });
          if (this.#pace.took(lagMs, room(), timers.now())) observer.partialShed();
          if (this.#confidence.wouldPass(result)) this.#report(taken, committed, result);
        },
        // It fails as the final result will, which says so.
        () => this.#pace.gaveUp(timers.now()),
      )
      .finally(() => {
        end();
        if (this.#partial === pending) this.#partial = null;
      });
  }

  /** The text of a stretch now, to decide whether its sentence is over; null: it could not be had, or was given up. */
  async textOf(stretch: Stretch): Promise<string | null> {
    this.giveUpPartial();
    const pending = { utterance: stretch.utterance, abort: new AbortController() };
    this.#partial = pending;
    try {
      const { segments, language } = await this.#recognise(stretch, this.#committedOf(stretch), pending, DUE_MS, 0);
      return textOf(segments, language);
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
    if (this.#running?.utterance === utterance) this.#running = null;
    if (this.#partial?.utterance === utterance) this.giveUpPartial();
    for (const pending of this.#pending) {
      if (pending.utterance === utterance) pending.abort.abort(new Error('The client abandoned its utterance.'));
    }
  }

  #committedOf({ utterance, startSample }: Stretch): CommittedText {
    const running = this.#running;
    if (running?.utterance === utterance && running.startSample === startSample) return running.committed;
    const { commits } = this.parts.engine.info;
    const committed = new CommittedText(this.settings.stableSeconds, commits, startSample / SAMPLE_RATE);
    this.#running = { utterance, startSample, committed };
    return committed;
  }

  /** Of a stretch that goes on: what is final of it now, and what may change. */
  #report(stretch: Stretch, committed: CommittedText, result: RecognisedUtterance): void {
    const { emit, engine } = this.parts;
    // A cut for its length may leave the last audio to the next stretch.
    const isNearCut = stretch.samples.length > (engine.info.windowSeconds - SEARCH_SECONDS) * SAMPLE_RATE;
    const piece = isNearCut
      ? null
      : committed.add(result, (stretch.startSample + stretch.samples.length) / SAMPLE_RATE);
    if (piece !== null) {
      const text = textOf(piece.segments, piece.language);
      emit({ type: 'final', utterance: stretch.utterance, ...piece, text, endedBy: 'agreement' });
    }
    if (this.settings.interim) emit({ type: 'partial', ...this.#decoded(stretch, committed, result) });
  }

  async #recognise(
    { startSample, samples }: Stretch,
    committed: CommittedText,
    { abort }: Pending,
    dueInMs: UtteranceToRecognise['dueInMs'],
    progressSeconds = samples.length / SAMPLE_RATE,
  ): Promise<RecognisedUtterance> {
    const { engine, accountId, requestId, signal, timers, observer, slotUse } = this.parts;
    const { language, detectsEach, prompt, words, stableSeconds } = this.settings;
    const { commits, languages } = engine.info;
    const { prefix } = committed;
    const spoken = committed.language?.language;
    // Of its own: a crash is counted against the utterance, not against the session.
    const origin: WorkOrigin = { requestId, accountId, background: false, sha256: null };
    const guess = this.#spoken.leader;
    const utterance: UtteranceToRecognise = {
      ...{ samples, startSample, accountId, origin, dueInMs },
      align: words || (stableSeconds !== null && commits === 'words'),
      ...(stableSeconds !== null && commits === 'prefix' ? { describe: true } : {}),
      ...(prefix === null ? {} : { prefix }),
      signal: AbortSignal.any([signal, abort.signal]),
      language: language ?? languages.find((code) => code === spoken) ?? (detectsEach ? 'auto' : this.#spoken.next),
      ...(guess === null ? {} : { languageGuess: guess }),
      ...(prompt === null ? {} : { prompt }),
    };
    if (dueInMs === null) return engine.recognise(utterance);
    const begun = timers.now();
    const end = slotUse.beginFinal();
    try {
      const result = await engine.recognise(utterance);
      observer.finalResult({ seconds: progressSeconds, lagMs: timers.now() - begun, workMs: result.workMs });
      return result;
    } finally {
      end();
    }
  }

  async #outcome(
    stretch: EndedStretch,
    committed: CommittedText,
    recognised: Promise<RecognisedUtterance> | null,
  ): Promise<FinalResult | FailedResult> {
    const { endedBy } = stretch;
    try {
      const result = await recognised;
      if (result === null) return { type: 'final', ...this.#nothing(stretch, committed), endedBy };
      if (result.segments.length > 0) {
        this.#spoken.add(committed.language ?? result, stretch.samples.length / SAMPLE_RATE);
      }
      if (!this.#confidence.passes(result)) return { type: 'final', ...this.#nothing(stretch, committed), endedBy };
      return { type: 'final', ...this.#decoded(stretch, committed, result), endedBy };
    } catch (error) {
      const { utterance, startSeconds, endSeconds, continuesWord } = this.#nothing(stretch, committed);
      const failure = { endedBy, error: requestError(error) };
      return { type: 'failed', utterance, startSeconds, endSeconds, continuesWord, ...failure };
    }
  }

  #decoded(stretch: Stretch, committed: CommittedText, result: RecognisedUtterance): Omit<PartialResult, 'type'> {
    const { language } = result;
    const rest = committed.restOf(result);
    return { ...this.#nothing(stretch, committed), ...rest, text: textOf(rest.segments, language), language };
  }

  #nothing({ utterance, startSample, samples }: Stretch, committed: CommittedText): Omit<PartialResult, 'type'> {
    const language = this.settings.language ?? this.#spoken.leader ?? DEFAULT_LANGUAGE;
    const { endSeconds: startSeconds } = committed;
    const endSeconds = Math.max(startSeconds, (startSample + samples.length) / SAMPLE_RATE);
    return { utterance, startSeconds, endSeconds, text: '', segments: [], language, continuesWord: false };
  }
}

function textOf(segments: readonly Segment[], language: string): string {
  return joinTexts(
    segments.map(({ text }) => text),
    language,
  );
}
