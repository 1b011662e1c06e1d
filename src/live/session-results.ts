import type { SessionParts } from './session-parts.js';
import { sessionSpeakers } from './session-speakers.js';
import { SessionTranslator } from './session-translator.js';
import { UtteranceDecoder } from './utterance-decoder.js';

/** The results of a session: text, and where its settings ask for them who speaks, and a translation. */
export class SessionResults {
  readonly decoder: UtteranceDecoder;
  readonly #translator: SessionTranslator;

  /** `signal`: aborts all work. */
  constructor(parts: SessionParts, signal: AbortSignal) {
    const { engine, accountId, requestId, timers, observer, room, slotUse, diarizer } = parts;
    const { settings, extraWork, emit } = parts;
    this.#translator = new SessionTranslator(parts, signal);
    this.decoder = new UtteranceDecoder(
      {
        ...{ engine, accountId, requestId, timers, signal, observer, room, slotUse },
        speakers: sessionSpeakers(diarizer, settings, extraWork),
        emit: (event) => this.#translator.report(event, this.decoder.settings.translateTo),
        noUtterance: (atSeconds) => emit({ type: 'no_utterance', atSeconds }),
      },
      settings,
    );
  }

  /** Resolves when everything that was asked for is reported. */
  async untilReported(): Promise<void> {
    await this.decoder.untilAllReported();
    await this.#translator.whenIdle();
  }
}
