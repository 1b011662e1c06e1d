/** Keeps the transcripts of live sessions once they have ended: each started minute of them is paid for. */
import type { VerbatimError } from '../errors.js';
import type { KeepOrder, TranscriptKeeper } from '../transcription/keep.js';
import { requestError } from '../transcription/request-errors.js';
import type { SessionEnd, SessionEvent } from './events.js';
import type { LiveSettings } from './options.js';
import { SessionTranscript } from './session-transcript.js';

interface Keeper {
  keeper: TranscriptKeeper;
  broken: (error: VerbatimError, requestId: string) => void;
}

interface Owner {
  accountId: string;
  requestId: string;
  keep?: KeepOrder | null;
}

interface Collected {
  settings: LiveSettings;
  emit: (event: SessionEvent) => void;
}

export class SessionKeeping {
  readonly #beingKept = new Set<Promise<void>>();

  constructor(private readonly deps: Keeper) {}

  /** Resolves when those of sessions that have ended are kept. */
  async untilKept(): Promise<void> {
    await Promise.all(this.#beingKept);
  }

  /** The options of a session whose text is collected where its owner keeps it: the same where not. */
  collect<T extends Collected>(
    owner: Owner,
    options: T,
  ): { options: T; until: (ended: Promise<SessionEnd>, model: string) => void } {
    const { keep } = owner;
    if (!keep) return { options, until: () => undefined };
    const transcript = new SessionTranscript();
    const emit = (event: SessionEvent): void => {
      transcript.happened(event);
      options.emit(event);
    };
    return {
      // The kept transcript has words with their times, whatever the client asks for.
      options: { ...options, settings: { ...options.settings, words: true }, emit },
      until: (ended, model) => {
        void ended.then(() => {
          const kept: Promise<void> = this.#keep({ ...owner, keep }, transcript, model).finally(() =>
            this.#beingKept.delete(kept),
          );
          this.#beingKept.add(kept);
        });
      },
    };
  }

  async #keep(
    { accountId, requestId, keep: order }: Owner & { keep: KeepOrder },
    session: SessionTranscript,
    model: string,
  ): Promise<void> {
    try {
      const transcript = await session.toKeep(model);
      if (transcript === null) return;
      const keepNow = await this.deps.keeper.prepare({ accountId, order, transcript, audio: null });
      await keepNow?.();
    } catch (error) {
      this.deps.broken(requestError(error), requestId);
    }
  }
}
