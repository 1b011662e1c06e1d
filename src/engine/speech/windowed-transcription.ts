import type { AudioFile } from './audio-file.js';
import type { DecodeOptions, Segment, WindowPolicy, WindowResult } from '../binding.js';
import type { Clock } from '../clock.js';
import { confidentResults } from './confidence.js';
import { FinalWindows } from './final-windows.js';
import { LanguageVote } from './language-vote.js';
import type { RealTimeFactor } from './real-time-factor.js';
import { RepeatPass } from './repeat-pass.js';
import type { FinishedWindow, WindowedRequest, WindowRunner } from './request-queue.js';
import type { TextLanguage } from './text-language.js';
import { joinTexts, TextJoiner } from '../transcript-text.js';
import type { EngineObserver, OnWindow, Transcript, TranscriptPart, WindowUpdate } from '../types.js';
import { byServiceCode, fromWhisperLanguage, toWhisperLanguage } from '../languages.js';
import type { CutWindow } from './window-reader.js';

/** The language of a transcript without text, when none was given. */
export const DEFAULT_LANGUAGE = 'en';

/** Without ownLength Whisper pads every window to this. */
export const PADDED_WINDOW_SECONDS = 30;

/** What all requests of an engine share. */
export interface RequestContext {
  policy: WindowPolicy;
  /** The languages that may be answered. */
  languages: readonly string[];
  /** Of models that detect no language and write the same whichever is named; null: the model detects. */
  textLanguage: TextLanguage | null;
  /** The least confidence: text below it is left out. null: none is. See confidentResults(). */
  minAverageLogProbability: number | null;
  clock: Clock;
  realTimeFactor: RealTimeFactor;
  observer: EngineObserver | undefined;
}

export interface RequestInput {
  audio: AudioFile;
  accountId: string;
  background: boolean;
  /** A code of the engine, or 'auto'. */
  language: string;
  task: 'transcribe' | 'translate';
  /** For every window; '' for none. */
  prompt: string;
  onWindow?: OnWindow | undefined;
  resumeFrom?: ReadonlyMap<number, WindowResult> | undefined;
  /** Whether segments are to have words. */
  align: boolean;
  /** Whether segments say how they were decoded. */
  describe: boolean;
  /** Of the first pass over every window. */
  temperature: number;
}

/**
 * One request: its windows in order, the language they are decoded in, and their results. With 'auto' the windows of
 * the first speech are decoded in the language that each is detected to be in, and vote. When the vote is closed,
 * windows that were decoded in another language are cut again and decoded in the winner. Where the text itself shows
 * its language, its windows vote by text, and none is decoded again.
 */
export class WindowedTranscription implements WindowedRequest {
  private readonly results = new Map<number, WindowResult>();
  private readonly vote: LanguageVote | null;
  private language: string | null;
  private repeat: RepeatPass | null = null;
  /** Windows that run once more, and have not yet. */
  private readonly awaited = new Set<number>();
  private readonly finalWindows: FinalWindows;
  private readonly startedAt: number;
  private joiner: TextJoiner | null = null;
  private ended = false;
  private cutWindows = 0;
  private finishedWindows = 0;
  private cutSeconds = 0;
  private startedSeconds = 0;
  private doneSeconds = 0;
  private reportedSeconds = 0;
  private firstStart: number | null = null;
  private lastEnd = 0;
  private inferenceMs = 0;

  constructor(
    private readonly input: RequestInput,
    private readonly context: RequestContext,
  ) {
    const isAuto = input.language === 'auto';
    this.language = isAuto ? null : input.language;
    this.vote = isAuto ? new LanguageVote(context.languages, context.policy.maxSeconds) : null;
    this.finalWindows = new FinalWindows(context.minAverageLogProbability);
    this.startedAt = context.clock.now();
  }

  get accountId(): string {
    return this.input.accountId;
  }

  get background(): boolean {
    return this.input.background;
  }

  get audioLeftSeconds(): number {
    const total = this.ended ? this.cutSeconds : this.input.audio.durationSeconds;
    return Math.max(0, total - this.startedSeconds);
  }

  get hasMore(): boolean {
    return !this.ended || this.repeat?.hasMore === true;
  }

  async cut(): Promise<CutWindow | 'silence' | null> {
    if (this.repeat?.hasMore === true) return this.repeat.next();
    const cut = await this.input.audio.windows.next();
    if (cut === 'silence') return cut;
    if (cut === null) {
      this.ended = true;
      this.closeVoteIfDue();
      this.report(null);
      return null;
    }
    this.cutWindows++;
    this.cutSeconds += cut.advanceSeconds;
    const known = this.input.resumeFrom?.get(cut.index);
    if (known === undefined) return cut;
    cut.window.release();
    this.pass(cut, known);
    return 'silence';
  }

  mayRun(cut: CutWindow): boolean {
    return this.vote === null || this.language !== null || this.isRepeated(cut) || this.vote.acceptsAnother;
  }

  costSeconds(cut: CutWindow): number {
    return this.context.policy.ownLength ? Math.max(1, cut.seconds) : PADDED_WINDOW_SECONDS;
  }

  async run(cut: CutWindow, runner: WindowRunner, signal: AbortSignal): Promise<void> {
    const start = this.context.clock.now();
    const queuedSince = this.firstStart === null ? this.startedAt : cut.readyAt;
    this.firstStart ??= start;
    const votes = this.language === null;
    if (votes) this.vote?.begin(cut.seconds);
    if (!this.isRepeated(cut)) this.startedSeconds += cut.advanceSeconds;
    const finished = await runner.transcribe(cut.window, this.decodeOptions(), signal);
    const { result } = finished;
    this.measure(cut, finished, start, start - queuedSince);
    const repeated = this.isRepeated(cut);
    this.results.set(cut.index, result);
    if (repeated) this.awaited.delete(cut.index);
    else this.advance(cut, result, votes);
    this.report(repeated ? null : { index: cut.index, result });
  }

  transcript(): Transcript {
    const language = this.language ?? this.defaultLanguage;
    const ordered = [...this.results].sort(([one], [other]) => one - other).map(([, result]) => result);
    const confident = confidentResults(ordered, this.context.minAverageLogProbability);
    const segments = withText(confident);
    const texts = segments.map((segment) => segment.text);
    return {
      durationSeconds: this.input.audio.durationSeconds,
      language,
      languageProbability: segments.length > 0 ? this.detectedProbability : null,
      text: joinTexts(texts, this.writtenLanguage(language)),
      segments,
      windows: ordered.length,
      unsureWindows: ordered.length - confident.length,
      timings: {
        queueMs: this.firstStart === null ? 0 : this.firstStart - this.startedAt,
        readMs: this.input.audio.windows.readMs + (this.repeat?.readMs ?? 0),
        speechMs: this.firstStart === null ? 0 : this.lastEnd - this.firstStart,
        inferenceMs: this.inferenceMs,
      },
    };
  }

  /** Closes the readers that the request itself opened. */
  close(): void {
    this.repeat?.close();
  }

  /** A window whose result is known: it votes as it did. */
  private pass(cut: CutWindow, result: WindowResult): void {
    const votes = this.language === null;
    if (votes) this.vote?.begin(cut.seconds);
    this.startedSeconds += cut.advanceSeconds;
    this.results.set(cut.index, result);
    this.advance(cut, result, votes);
    this.report(null);
  }

  private advance(cut: CutWindow, result: WindowResult, votes: boolean): void {
    this.finishedWindows++;
    this.doneSeconds += cut.advanceSeconds;
    if (votes) this.vote?.end(cut.seconds, hasText(result) ? this.voteOf(result) : null);
    this.closeVoteIfDue();
  }

  /**
   * One update, and one more for each further part that is final now: no update grows with the file, however many parts
   * are final at once.
   */
  private report(finished: WindowUpdate['finished']): void {
    const { onWindow } = this.input;
    if (onWindow === undefined) return;
    const [part = null, ...others] = this.finalParts();
    const { doneSeconds: seconds } = this;
    // Without a vote the language is only a default.
    const language = this.vote?.leader === null ? null : this.language;
    if (finished !== null || part !== null || seconds !== this.reportedSeconds)
      onWindow({ finished, seconds, language, part });
    for (const other of others) onWindow({ finished: null, seconds, language, part: other });
    this.reportedSeconds = seconds;
  }

  /** Of what is final by now, and was not before: a window's at most. */
  private finalParts(): TranscriptPart[] {
    const { language } = this;
    if (language === null) return [];
    for (let next = this.finalResult(); next !== null; next = this.finalResult()) this.finalWindows.add(next);
    return this.finalWindows.take(this.isOver).flatMap((result) => this.partOf(result, language) ?? []);
  }

  private partOf(result: WindowResult, language: string): TranscriptPart | null {
    const segments = withText([result]);
    if (segments.length === 0) return null;
    const joiner = (this.joiner ??= new TextJoiner(this.writtenLanguage(language)));
    return { language, text: segments.map((segment) => joiner.add(segment.text)).join(''), segments };
  }

  /** Of the next window in the file, if it has run for good. */
  private finalResult(): WindowResult | null {
    const { next } = this.finalWindows;
    return this.awaited.has(next) ? null : (this.results.get(next) ?? null);
  }

  private get isOver(): boolean {
    return this.ended && this.finishedWindows === this.cutWindows && this.awaited.size === 0;
  }

  /** Whisper's translate task writes English, whatever is spoken. */
  private writtenLanguage(language: string): string {
    return this.input.task === 'translate' ? 'en' : language;
  }

  private isRepeated(cut: CutWindow): boolean {
    return this.results.has(cut.index);
  }

  private decodeOptions(): DecodeOptions {
    const { policy } = this.context;
    const { task, prompt, align, describe, temperature } = this.input;
    const detects = this.language === null && this.context.textLanguage === null;
    const guess = this.vote?.leader;
    return {
      language: detects ? 'auto' : toWhisperLanguage(this.language ?? this.defaultLanguage),
      ...(detects && guess ? { languageGuess: toWhisperLanguage(guess) } : {}),
      task,
      ...(prompt === '' ? {} : { initialPrompt: prompt }),
      ownLength: policy.ownLength,
      ...(align ? { align } : {}),
      ...(describe ? { describe } : {}),
      ...(temperature > 0 ? { temperature } : {}),
    };
  }

  /** By the codes of the service; null: nothing that shows a language. */
  private voteOf(result: WindowResult): Readonly<Record<string, number>> | null {
    const { textLanguage } = this.context;
    if (textLanguage === null) return probabilities(result);
    const shares = textLanguage(result.segments.map(({ text }) => text).join(' '));
    return Object.keys(shares).length === 0 ? null : shares;
  }

  /** Shares of n-grams are no probability of anything. */
  private get detectedProbability(): number | null {
    return this.context.textLanguage === null ? (this.vote?.leaderProbability ?? null) : null;
  }

  private get defaultLanguage(): string {
    const { languages } = this.context;
    return languages.includes(DEFAULT_LANGUAGE) ? DEFAULT_LANGUAGE : (languages[0] ?? DEFAULT_LANGUAGE);
  }

  private closeVoteIfDue(): void {
    if (this.vote === null || this.language !== null) return;
    if (!this.vote.isComplete && !this.isOver) return;
    const language = this.vote.leader;
    this.language = language ?? this.defaultLanguage;
    if (language === null || this.context.textLanguage !== null) return;
    const strays = [...this.results].filter(([, result]) => hasText(result) && languageOf(result) !== language);
    const indices = strays.map(([index]) => index);
    for (const index of indices) this.awaited.add(index);
    if (indices.length > 0) this.repeat = new RepeatPass(this.input.audio, indices);
  }

  private measure(cut: CutWindow, { result, workMs }: FinishedWindow, start: number, queueMs: number): void {
    const { clock, realTimeFactor, observer } = this.context;
    this.lastEnd = Math.max(this.lastEnd, clock.now());
    const inferenceMs = clock.now() - start;
    this.inferenceMs += inferenceMs;
    realTimeFactor.add(workMs / 1000, this.isRepeated(cut) ? 0 : cut.advanceSeconds);
    const { tokens, fallbacks, melMs, encodeMs, decodeMs } = result.timings;
    observer?.windowDone({
      queueMs,
      inferenceMs,
      audioSeconds: cut.seconds,
      tokens,
      fallbacks,
      melMs,
      encodeMs,
      decodeMs,
    });
  }
}

function withText(results: readonly WindowResult[]): Segment[] {
  return results.flatMap((result) => result.segments).filter(({ text }) => text.trim() !== '');
}

function hasText(result: WindowResult): boolean {
  return result.segments.some((segment) => segment.text.trim() !== '');
}

function languageOf(result: WindowResult): string {
  return fromWhisperLanguage(result.language);
}

/** By the codes of the service. */
function probabilities(result: WindowResult): Record<string, number> {
  return byServiceCode(result.languageProbabilities ?? { [result.language]: 1 });
}
