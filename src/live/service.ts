/** Opens live sessions: who may have one, with which model, and what each holds of the server. */
import type { LiveAudio, LiveAudioOptions } from '../engine/binding.js';
import { LiveDecoder } from '../engine/media/live-decoder.js';
import type { Diarizer, EngineInfo, NoDiarizer } from '../engine/types.js';
import { VerbatimError, type ErrorCode } from '../errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Timers } from '../timers.js';
import type { AcquireEngines, EngineLease, SpeechOfModel } from '../transcription/engine-lease.js';
import type { KeepOrder, TranscriptKeeper } from '../transcription/keep.js';
import { creditsFor, type PaidWork, type Prices } from '../transcription/price.js';
import { requestError } from '../transcription/request-errors.js';
import { LiveAbilities, type CheckedSettings } from './abilities.js';
import { LiveAdmission, NO_EXTRAS, type AdmissionStats, type AdmittedSession } from './admission.js';
import { DecodedSession } from './decoded-session.js';
import { DecoderPlaces } from './decoder-places.js';
import type { SessionEnd, SessionEvent } from './events.js';
import { MeasuredExtras, type ExtraWork } from './extra-work.js';
import { InputMemory } from './input-memory.js';
import { LiveMeter } from './meter.js';
import { audioOptions, DECODED_FORMAT, type EncodedFormat, type LiveFormat, type LiveSettings } from './options.js';
import { ReceivedAudio } from './received-audio.js';
import { LiveSession } from './session.js';
import { SessionKeeping } from './session-keeping.js';
import { SlotUse } from './slot-use.js';
import type { DecoderObserver } from './utterance-decoder.js';

export interface LiveSettingsOfServer extends Prices {
  /** Sessions of one account at a time. */
  maxLiveSessions: number;
  /** Seconds of audio of one session. */
  maxLiveSeconds: number;
  /** Sessions of the server whose audio ffmpeg decodes. */
  maxLiveDecoders: number;
}

export interface SessionOwner {
  accountId: string;
  keyId: string;
  requestId: string;
  /** The path of the protocol, for the usage. */
  endpoint: string;
  /** How its transcript is kept when it ends; null or absent: not at all. */
  keep?: KeepOrder | null;
}

/** As LiveSession.endSoon(). */
type OnDrain = (error: VerbatimError, withinMs: number) => void;

/** What ends the sessions of a revoked key, and of a server that stops. */
export interface SessionRegistry {
  /** Throws `shutting_down`. */
  beginSession(owner: { accountId: string; keyId: string; onDrain: OnDrain }): {
    signal: AbortSignal;
    end(): void;
  };
}

/** Receives measurements as they happen. `endpoint`: SessionOwner.endpoint. */
export interface LiveObserver extends DecoderObserver {
  sessionRefused(endpoint: string, code: ErrorCode): void;
  /** So much audio was worked on. */
  audioReceived(endpoint: string, seconds: number): void;
  sessionEnded(endpoint: string, reason: EndReason): void;
}

/** The code of the error that ended it, if one did. */
export type EndReason = Exclude<SessionEnd['how'], 'refused'> | ErrorCode;

export interface LiveDeps {
  acquire: AcquireEngines;
  diarizer: Diarizer | NoDiarizer;
  ledger: Pick<Ledger, 'holds' | 'credits'>;
  registry: SessionRegistry;
  keeper: TranscriptKeeper;
  openAudio: (options: LiveAudioOptions) => LiveAudio;
  /** A path, or a name in the directories where programs are. */
  ffmpeg: string;
  engineStats: () => { slots: number; realTimeFactor: number };
  settings: LiveSettingsOfServer;
  observer: LiveObserver;
  /** A session has ended by a fault of this server. */
  broken: (error: VerbatimError, requestId: string) => void;
  timers: Timers;
}

interface PlaceOptions {
  /** The place that the caller gives back once it has the new one. */
  instead?: LiveReservation | null;
  /** What of it has a surcharge; default: nothing. */
  extras?: PaidWork;
}

function extrasOf({ translateTo, diarize }: Pick<LiveSettings, 'translateTo' | 'diarize'>): PaidWork {
  return { translated: translateTo !== null, diarized: diarize };
}

export class LiveService {
  readonly #admission: LiveAdmission;
  readonly #extraWork: MeasuredExtras;
  readonly #slotUse: SlotUse;
  readonly #memory = new InputMemory();
  readonly #decoders: DecoderPlaces;
  readonly #keeping: SessionKeeping;
  readonly #byAccount = new Map<string, number>();

  constructor(private readonly deps: LiveDeps) {
    this.#admission = new LiveAdmission(deps.engineStats, () => deps.timers.now());
    this.#slotUse = new SlotUse(() => Math.max(1, deps.engineStats().slots));
    this.#extraWork = new MeasuredExtras(
      (extra, work) => this.#admission.extraMeasured(extra, work),
      () => deps.timers.now(),
    );
    this.#keeping = new SessionKeeping(deps);
    this.#decoders = new DecoderPlaces(deps.settings.maxLiveDecoders);
  }

  /** Resolves when the transcripts of sessions that have ended are kept. */
  untilKept(): Promise<void> {
    return this.#keeping.untilKept();
  }

  /** As LiveAdmission.room. */
  get room(): number {
    return this.#admission.room;
  }

  /** `model`: of the next sessions. */
  stats(model: string): AdmissionStats & { waitingBytes: number } {
    return { ...this.#admission.stats(model), waitingBytes: this.#memory.bytes };
  }

  /** What sessions with this model (null: the default one) can do. Throws `unsupported_model`. */
  abilities(model: string | null): LiveAbilities {
    const lease = this.deps.acquire(model);
    lease.release();
    return new LiveAbilities(lease, this.deps.diarizer);
  }

  /**
   * A place for a session with this model (null: the default one), before the client's connection is accepted. Rejects
   * with `insufficient_credits`, `rate_limited`, `overloaded`, `shutting_down` or `unsupported_model`.
   */
  async reserve(owner: SessionOwner, model: string | null, options: PlaceOptions = {}): Promise<LiveReservation> {
    try {
      return await this.#reserve(owner, model, options);
    } catch (error) {
      this.deps.observer.sessionRefused(owner.endpoint, requestError(error).code);
      throw error;
    }
  }

  async #reserve(
    owner: SessionOwner,
    model: string | null,
    { instead = null, extras = NO_EXTRAS }: PlaceOptions,
  ): Promise<LiveReservation> {
    const { ledger, acquire, settings } = this.deps;
    const count = this.#byAccount.get(owner.accountId) ?? 0;
    if (instead === null && count >= settings.maxLiveSessions) {
      const message = `The account has ${count} live sessions; its limit is ${settings.maxLiveSessions}.`;
      throw new VerbatimError('rate_limited', message, { retryAfterSeconds: 10 });
    }
    const lease = acquire(model);
    const undo: (() => void)[] = [() => lease.release()];
    try {
      const place = this.#admission.admit(lease.info.modelName, { instead: instead?.place ?? null, extras });
      undo.push(() => place.release());
      this.#byAccount.set(owner.accountId, count + 1);
      undo.push(() => this.#leave(owner.accountId));
      const { balance } = await ledger.credits.balance(owner.accountId);
      const creditsPerMinute = creditsFor(settings, 0, extras);
      if (balance < creditsPerMinute) {
        const message = `A live session costs ${creditsPerMinute} credits a minute; the account has ${balance}.`;
        throw new VerbatimError('insufficient_credits', message);
      }
      const takeDecoder = (): void => void undo.push(this.#decoders.take());
      const shared = {
        memory: this.#memory,
        admission: this.#admission,
        extraWork: this.#extraWork,
        slotUse: this.#slotUse,
      };
      const parts = { owner, lease, place, ...shared, takeDecoder };
      return new LiveReservation(this.deps, { ...parts, keeping: this.#keeping }, () => {
        for (const step of undo.splice(0)) step();
      });
    } catch (error) {
      for (const step of undo.splice(0)) step();
      throw error;
    }
  }

  /** The same for settings that are known already. Rejects as LiveReservation.check() throws, too. */
  async reserveFor(owner: SessionOwner, model: string | null, settings: CheckedSettings): Promise<LiveReservation> {
    const reservation = await this.reserve(owner, model, { extras: extrasOf(settings) });
    reservation.orRelease(() => reservation.check(settings));
    return reservation;
  }

  #leave(accountId: string): void {
    const left = (this.#byAccount.get(accountId) ?? 1) - 1;
    if (left > 0) this.#byAccount.set(accountId, left);
    else this.#byAccount.delete(accountId);
  }
}

interface ReservationParts {
  owner: SessionOwner;
  lease: EngineLease;
  place: AdmittedSession;
  memory: InputMemory;
  admission: LiveAdmission;
  extraWork: ExtraWork;
  slotUse: SlotUse;
  takeDecoder: () => void;
  keeping: SessionKeeping;
}

export interface SessionOptions {
  format: LiveFormat;
  settings: LiveSettings;
  emit: (event: SessionEvent) => void;
}

export interface DecodedSessionOptions extends Omit<SessionOptions, 'format'> {
  format: EncodedFormat;
}

/** The place of a session, which has a model and has not begun. */
export class LiveReservation {
  readonly #abilities: LiveAbilities;

  constructor(
    private readonly deps: LiveDeps,
    private readonly parts: ReservationParts,
    /** Idempotent. */
    readonly release: () => void,
  ) {
    this.#abilities = new LiveAbilities(parts.lease, deps.diarizer);
  }

  get place(): AdmittedSession {
    return this.parts.place;
  }

  get info(): EngineInfo {
    return this.#abilities.info;
  }

  get targets(): readonly string[] {
    return this.#abilities.targets;
  }

  /** Gives the place back where the check throws. */
  orRelease<T>(check: () => T): T {
    try {
      return check();
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Throws as LiveAbilities.check() does. */
  check(settings: CheckedSettings): void {
    this.#abilities.check(settings);
  }

  /** A place for a decoder, which is given back with this one. Throws `overloaded`. */
  takeDecoder(): void {
    try {
      this.parts.takeDecoder();
    } catch (error) {
      this.deps.observer.sessionRefused(this.parts.owner.endpoint, requestError(error).code);
      throw error;
    }
  }

  /** As start(), of a session whose audio is decoded; takeDecoder() was called. */
  async startDecoded({ format, ...options }: DecodedSessionOptions): Promise<DecodedSession> {
    const session = await this.start({ ...options, format: DECODED_FORMAT });
    const { ffmpeg, timers, settings } = this.deps;
    return new DecodedSession({
      ...{ session, format, memory: this.parts.memory },
      openDecoder: (container, onSamples) =>
        new LiveDecoder({ ffmpeg, container, maxSeconds: settings.maxLiveSeconds, timers, onSamples }),
    });
  }

  /**
   * Begins the session, which gives the place back when it ends. Rejects as `check` throws, and with `overloaded` where
   * there is no memory for the model; the caller then releases the place.
   */
  async start(options: SessionOptions): Promise<LiveSession> {
    this.check(options.settings);
    const { registry } = this.deps;
    const { owner, lease, keeping } = this.parts;
    const kept = keeping.collect(owner, options);
    let session: LiveSession | null = null;
    const entry = registry.beginSession({ ...owner, onDrain: (error, ms) => session?.endSoon(error, ms) });
    try {
      const speech = await lease.speech({ accountId: owner.accountId, signal: entry.signal });
      session = this.#session(kept.options, speech, entry.signal);
    } catch (error) {
      entry.end();
      throw error;
    }
    kept.until(session.ended, this.info.modelName);
    void session.ended.then((end) => {
      if (end.how === 'refused' && end.error.code === 'internal_error') this.deps.broken(end.error, owner.requestId);
      entry.end();
      this.release();
      this.deps.observer.sessionEnded(owner.endpoint, end.how === 'refused' ? end.error.code : end.how);
    });
    return session;
  }

  #session({ format, settings, emit }: SessionOptions, engine: SpeechOfModel, signal: AbortSignal): LiveSession {
    const { openAudio, ledger, settings: limits, timers, observer, diarizer } = this.deps;
    const { owner, lease, memory, admission, extraWork, slotUse, place } = this.parts;
    const { windowSeconds, modelName } = this.info;
    const audio = openAudio(audioOptions(format, settings, windowSeconds));
    const { accountId, requestId } = owner;
    const payer = { ...owner, model: modelName, language: settings.language, extras: extrasOf(settings) };
    const received = new ReceivedAudio({
      received: (seconds) => observer.audioReceived(owner.endpoint, seconds),
      spoke: (seconds) => place.spoke(seconds),
    });
    return new LiveSession({
      ...{ audio, format, settings, engine, memory, accountId, requestId, timers, signal },
      ...{ translator: lease.translator, diarizer, extraWork, slotUse },
      meter: new LiveMeter(ledger, limits, payer),
      maxSeconds: limits.maxLiveSeconds,
      room: () => admission.room,
      observer: {
        finalResult: (measurement) => {
          admission.measured(modelName, measurement);
          observer.finalResult(measurement);
        },
        partialResult: (measurement) => observer.partialResult(measurement),
        partialShed: () => observer.partialShed(),
      },
      emit: (event) => {
        received.happened(event);
        emit(event);
      },
    });
  }
}
