/**
 * A live session: audio arrives piece by piece, and results leave as soon as an utterance ends. It knows no protocol.
 *
 * Input is worked on in its order, at most at a multiple of real time. All state is in this process: the engine's
 * process gets each stretch of audio as a whole, and its death costs a repeat of that stretch.
 */
import type { LiveEvent } from '../engine/binding.js';
import { VerbatimError } from '../errors.js';
import type { Timer } from '../timers.js';
import { requestError } from '../transcription/request-errors.js';
import type { FinalResult, SessionEnd, SessionEvent } from './events.js';
import { InputRate } from './input-rate.js';
import { pauseFor } from './pause.js';
import { PlannedEnd } from './planned-end.js';
import { pushAudio } from './push-audio.js';
import type { RunningUtterance, SessionInput, SessionParts } from './session-parts.js';
import { bytesPerFrame, liveOptions, type LiveSettings } from './options.js';
import { toIntegers } from './sample-integers.js';
import { endsSentence } from './sentence-end.js';
import { SentenceTurn } from './sentence-turn.js';
import { SAMPLE_RATE } from '../engine/sample-rate.js';
import { SessionResults } from './session-results.js';
import type { Stretch, UtteranceDecoder } from './utterance-decoder.js';
import { WaitingInput } from './waiting-input.js';

/** Audio of one step of work. */
const PIECE_SECONDS = 1;
/** Final results on their way, over which no more audio is worked on. */
const MOST_PENDING = 4;
/** A client that sends nothing for so long ends its utterance. */
const IDLE_MS = 1000;
/** Of the silence behind an utterance, the part that is decoded with it. */
const TAIL_SAMPLES = 0.3 * SAMPLE_RATE;
/** Shorter stretches are no speech that a model could recognise. */
const SHORTEST_SAMPLES = 0.1 * SAMPLE_RATE;

export class LiveSession {
  readonly ended: Promise<SessionEnd>;
  readonly #parts: SessionParts;
  readonly #decoder: UtteranceDecoder;
  readonly #results: SessionResults;
  readonly #rate: Pick<InputRate, 'delayMs'>;
  readonly #stop = new AbortController();
  readonly #plannedEnd: PlannedEnd;
  readonly #sentenceTurn: SentenceTurn;
  readonly #inputs: SessionInput[] = [];
  readonly #waiting: WaitingInput;
  #settings: LiveSettings;
  #receivedBytes = 0;
  #workedBytes = 0;
  #isWorking = false;
  #isClosing = false;
  #utterance: RunningUtterance | null = null;
  #utterances = 0;
  #idle: Timer | null = null;
  #end!: (end: SessionEnd) => void;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.#waiting = new WaitingInput(parts.memory);
    this.#plannedEnd = new PlannedEnd(parts.timers);
    this.#sentenceTurn = new SentenceTurn(parts.audio);
    this.#rate = parts.rate ?? new InputRate(parts.timers.now());
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.#results = new SessionResults({ ...parts, emit: (event) => this.#emit(event) }, this.#stop.signal);
    this.#decoder = this.#results.decoder;
    const revoked = (): void => this.#close({ how: 'refused', error: requestError(parts.signal.reason) });
    if (parts.signal.aborted) revoked();
    else parts.signal.addEventListener('abort', revoked, { once: true });
  }

  get settings(): LiveSettings {
    return this.#settings;
  }

  get receivedSeconds(): number {
    return this.#secondsOf(this.#receivedBytes);
  }

  /** Takes audio. Resolves when there is room for more; the bytes are kept whatever the caller does. */
  async append(bytes: Buffer): Promise<void> {
    if (this.#isClosing || bytes.length === 0) return;
    this.#idle?.cancel();
    this.#receivedBytes += bytes.length;
    this.#waiting.take(bytes.length);
    this.#add({ kind: 'bytes', bytes });
    await this.#waiting.whenRoom();
  }

  /** Ends the running utterance with the audio received so far. */
  endUtterance(): void {
    this.#add({ kind: 'end utterance' });
  }

  /** Abandons the running utterance. */
  clear(): void {
    this.#add({ kind: 'clear' });
  }

  configure(settings: LiveSettings): void {
    this.#settings = settings;
    this.#add({ kind: 'settings', settings });
  }

  /** No more input comes. The session ends when all results are reported. */
  finish(): void {
    this.#add({ kind: 'finish' });
    this.#isClosing = true;
  }

  /** The client has left: nothing more is reported. */
  leave(): void {
    this.#close({ how: 'left' });
  }

  /** Ends once the running utterance has, and in any case in so many milliseconds: the server stops. */
  endSoon(error: VerbatimError, withinMs: number): void {
    this.#plannedEnd.plan(error, withinMs, () => this.#endIfDue());
    this.#endIfDue();
  }

  #add(input: SessionInput): void {
    if (this.#isClosing) return;
    this.#inputs.push(input);
    if (!this.#isWorking) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    try {
      for (let input = this.#inputs.shift(); input !== undefined; input = this.#inputs.shift()) {
        if (this.#stop.signal.aborted) break;
        await this.#handle(input);
        if (this.#dueEnd !== null) break;
      }
    } catch (error) {
      this.#refuseAfterResults(error);
    } finally {
      this.#isWorking = false;
    }
    this.#endIfDue();
    this.#watchIdleness();
  }

  get #dueEnd(): VerbatimError | null {
    return this.#plannedEnd.due({ inUtterance: this.#utterance !== null });
  }

  #endIfDue(): void {
    if (this.#dueEnd !== null && !this.#isWorking) this.#refuseAfterResults(this.#dueEnd);
  }

  async #handle(input: SessionInput): Promise<void> {
    const { audio } = this.#parts;
    if (input.kind === 'bytes') await this.#workOn(input.bytes);
    else if (input.kind === 'settings') {
      this.#decoder.settings = input.settings;
      audio.configure(liveOptions(input.settings.turns));
    } else if (input.kind === 'clear') {
      audio.clear();
      if (this.#utterance !== null) this.#decoder.abandon(this.#utterance.number);
      this.#utterance = null;
      this.#emit({ type: 'cleared' });
    } else if (input.kind === 'end sentence') {
      if (input.utterance === this.#utterance) this.#sentenceTurn.end(this.#decoder.settings.turns);
    } else {
      const begin = audio.utteranceBegin;
      const events = audio.endUtterance();
      // Its first audio may have come from the resampler just now.
      if (events.length > 0 && this.#utterance === null && begin !== null) this.#began(begin, false);
      if (events.length === 0 && input.kind === 'end utterance') this.#decoder.noUtterance(audio.position);
      this.#happened(events, input.kind === 'idle' ? 'silence' : 'client');
      if (input.kind === 'finish') await this.#finish();
    }
  }

  async #workOn(bytes: Buffer): Promise<void> {
    const { format, audio } = this.#parts;
    let piece: Buffer;
    for (let at = 0; at < bytes.length && !this.#plannedEnd.isOverdue; at += piece.length) {
      const seconds = this.#sentenceTurn.longestPiece(PIECE_SECONDS);
      piece = bytes.subarray(at, at + Math.ceil(seconds * format.sampleRate) * bytesPerFrame(format));
      try {
        if (!(await this.#mayWorkOn(piece))) return;
        const events = await pushAudio(audio, piece, this.#secondsOf(piece.length));
        if (this.#stop.signal.aborted) return;
        this.#happened(events, 'silence');
        const { turns } = this.#decoder.settings;
        this.#sentenceTurn.pushed(this.#secondsOf(piece.length), this.#utterance === null, turns);
        // Without detection no event reports where an utterance begins.
        if (this.#utterance === null && audio.utteranceBegin !== null) this.#began(audio.utteranceBegin, false);
        this.#emit({ type: 'progress', seconds: audio.position / SAMPLE_RATE });
        this.#partialIfDue();
      } finally {
        this.#waiting.release(piece.length);
      }
    }
  }

  /** Pays for the audio and waits for its turn; false: the session has ended meanwhile. */
  async #mayWorkOn(piece: Buffer): Promise<boolean> {
    const { meter, maxSeconds, timers } = this.#parts;
    this.#workedBytes += piece.length;
    const seconds = this.#secondsOf(this.#workedBytes);
    if (seconds > maxSeconds) throw longestDuration(maxSeconds);
    while (meter.paidSeconds < seconds && !this.#stop.signal.aborted) await meter.payMinute();
    const delay = this.#rate.delayMs(this.#secondsOf(piece.length), timers.now());
    if (delay > 0) await pauseFor(delay, this.#parts.timers, this.#stop.signal);
    await this.#decoder.untilFewerThan(MOST_PENDING);
    return !this.#stop.signal.aborted;
  }

  #happened(events: readonly LiveEvent[], endedBy: 'silence' | 'client'): void {
    for (const event of events) {
      if (event.type === 'speech_started') this.#began(event.at, true);
      else if (event.type === 'cut') this.#decode(event.at, 'length');
      else if (event.type === 'pause')
        this.#endIfSentence(event.speechEnd).catch((error: unknown) => this.#refuseAfterResults(error));
      else this.#stopped(event, endedBy);
    }
  }

  /** One without audio ends without an event where detection is switched on: this one takes its place. */
  #began(at: number, isDetected: boolean): void {
    const number = this.#utterance?.number ?? this.#utterances++;
    this.#utterance = { number, decodedTo: at };
    this.#emit({ type: 'speech_started', utterance: number, atSeconds: at / SAMPLE_RATE, isDetected });
  }

  #stopped({ at, speechEnd }: { at: number; speechEnd: number }, endedBy: 'silence' | 'client'): void {
    const { audio } = this.#parts;
    if (this.#utterance === null) return;
    const { number: utterance, decodedTo } = this.#utterance;
    const [atSeconds, speechEndSeconds] = [at / SAMPLE_RATE, speechEnd / SAMPLE_RATE];
    this.#emit({ type: 'speech_stopped', utterance, atSeconds, speechEndSeconds });
    if (this.#stop.signal.aborted) return;
    const end = speechEnd <= decodedTo ? decodedTo : Math.min(at, speechEnd + TAIL_SAMPLES);
    this.#decode(end, endedBy);
    audio.discardBefore(end);
    this.#utterance = null;
  }

  #decode(end: number, endedBy: FinalResult['endedBy']): void {
    if (this.#utterance === null) return;
    this.#decoder.final({ ...this.#stretchTo(end), endedBy });
    this.#utterance.decodedTo = end;
    this.#parts.audio.discardBefore(end);
  }

  /** What of the utterance is not decoded. */
  #stretchTo(end: number): Stretch {
    const { audio, engine } = this.#parts;
    const { number: utterance = 0, decodedTo: startSample = end } = this.#utterance ?? {};
    const most = Math.round(engine.info.windowSeconds * SAMPLE_RATE);
    const last = Math.min(end, startSample + most);
    if (last - startSample < SHORTEST_SAMPLES) return { utterance, startSample, samples: new Int16Array(0) };
    return { utterance, startSample, samples: toIntegers(audio.samples(startSample, last)) };
  }

  #partialIfDue(): void {
    const { audio } = this.#parts;
    const utterance = this.#utterance;
    if (!this.#decoder.wantsPartials || utterance === null) return;
    if (audio.position - utterance.decodedTo < SAMPLE_RATE / 2) return;
    this.#decoder.partial(() => this.#stretchTo(audio.position));
  }

  /** Ends the utterance at a pause behind a whole sentence, unless it went on meanwhile. */
  async #endIfSentence(speechEnd: number): Promise<void> {
    const { audio } = this.#parts;
    const utterance = this.#utterance;
    if (utterance === null || this.#settings.turns.kind !== 'semantic') return;
    const stretch = this.#stretchTo(Math.min(audio.position, speechEnd + TAIL_SAMPLES));
    const text = await this.#decoder.textOf(stretch);
    if (text === null || !endsSentence(text) || this.#utterance !== utterance) return;
    this.#inputs.unshift({ kind: 'end sentence', utterance });
    if (!this.#isWorking) void this.#work();
  }

  /** Only what the client does not send ends an utterance here, never what waits for work. */
  #watchIdleness(): void {
    this.#idle?.cancel();
    if (this.#utterance === null || this.#isClosing || this.#settings.turns.kind === 'manual') return;
    this.#idle = this.#parts.timers.after(IDLE_MS, () => {
      if (!this.#isWorking && !this.#isClosing) this.#add({ kind: 'idle' });
    });
  }

  async #finish(): Promise<void> {
    await this.#results.untilReported();
    this.#close({ how: 'finished' });
  }

  /** What a protocol cannot report ends its session, and nothing else. */
  #emit(event: SessionEvent): void {
    if (this.#stop.signal.aborted) return;
    try {
      this.#parts.emit(event);
    } catch (error) {
      this.#close({ how: 'refused', error: requestError(error) });
    }
  }

  /** Reports the results of what was worked on, and then ends. */
  #refuseAfterResults(thrown: unknown): void {
    if (this.#stop.signal.aborted) return;
    const error = requestError(thrown);
    this.#isClosing = true;
    try {
      this.#happened(this.#parts.audio.endUtterance(), 'client');
    } catch {
      // The audio itself failed: there is nothing to report.
    }
    void this.#results.untilReported().then(() => this.#close({ how: 'refused', error }));
  }

  #close(end: SessionEnd): void {
    if (this.#stop.signal.aborted) return;
    this.#isClosing = true;
    this.#stop.abort(new Error('The session has ended.'));
    this.#idle?.cancel();
    this.#plannedEnd.cancel();
    this.#decoder.giveUpPartial();
    this.#waiting.releaseAll();
    this.#inputs.length = 0;
    this.#parts.audio.close();
    this.#end(end);
  }

  #secondsOf(bytes: number): number {
    const { format } = this.#parts;
    return bytes / bytesPerFrame(format) / format.sampleRate;
  }
}

function longestDuration(maxSeconds: number): VerbatimError {
  return new VerbatimError('audio_too_long', `A live session may take at most ${maxSeconds} s of audio.`);
}
