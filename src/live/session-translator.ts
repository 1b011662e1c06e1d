/** Reports the results of a session, and final text in another language, sentence by sentence, in their order. */
import { IdleSignal } from '../idle-signal.js';
import type { WorkOrigin } from '../engine/types.js';
import { VerbatimError } from '../errors.js';
import { requestError } from '../transcription/request-errors.js';
import { sentenceTimer } from '../transcription/sentence-times.js';
import type { FailedResult, FinalResult, PartialResult, TranslatedResult } from './events.js';
import type { SessionParts } from './session-parts.js';
import { UnfinishedText, type TimedSource } from './unfinished-text.js';

export type TranslatorParts = Pick<SessionParts, 'translator' | 'extraWork' | 'accountId' | 'requestId' | 'emit'>;

/** Text to be translated. */
interface Order extends Pick<TranslatedResult, 'utterance' | 'spokenLanguage'> {
  source: TimedSource;
  to: string;
}

export class SessionTranslator {
  readonly #idle = new IdleSignal(() => this.#pending === 0);
  #pending = 0;
  #order: Promise<void> = Promise.resolve();
  #unfinished: UnfinishedText | null = null;

  /** `signal`: aborts all work. */
  constructor(
    private readonly parts: TranslatorParts,
    private readonly signal: AbortSignal,
  ) {}

  /** `to`: ISO 639-1; null: nothing is translated. */
  report(event: PartialResult | FinalResult | FailedResult, to: string | null): void {
    this.parts.emit(event);
    if (to === null || event.type === 'partial') return;
    this.#pending += 1;
    this.#order = this.#order
      .then(() => this.#take(event, to))
      .catch((error: unknown) => this.#failed(event, error))
      .then(() => {
        this.#pending -= 1;
        this.#idle.check();
      });
  }

  /** Resolves when all text is translated. */
  whenIdle(): Promise<void> {
    return this.#idle.whenIdle();
  }

  async #take(result: FinalResult | FailedResult, to: string): Promise<void> {
    const { utterance, endedBy } = result;
    // The client abandoned the one before.
    if (this.#unfinished?.utterance !== utterance) this.#unfinished = null;
    if (result.type === 'final' && result.text !== '') await this.#add(result, to);
    const unfinished = this.#unfinished;
    if (unfinished === null) return;
    const isOver = endedBy === 'silence' || endedBy === 'client';
    const source = isOver ? unfinished.takeAll() : await unfinished.takeSentences();
    if (isOver) this.#unfinished = null;
    await this.#translate({ utterance, spokenLanguage: unfinished.language, source, to });
  }

  async #add(result: FinalResult, to: string): Promise<void> {
    const { utterance, language } = result;
    const before = this.#unfinished;
    if (before !== null && before.language !== language) {
      this.#unfinished = null;
      await this.#translate({ utterance, spokenLanguage: before.language, source: before.takeAll(), to });
    }
    this.#unfinished ??= new UnfinishedText(utterance, language);
    this.#unfinished.add(result);
  }

  async #translate({ utterance, spokenLanguage: from, source, to }: Order): Promise<void> {
    const text = source.text.trim();
    if (text === '' || this.signal.aborted) return;
    const { accountId, requestId, translator, extraWork } = this.parts;
    const [startSeconds, endSeconds] = [source.segments[0]?.startSeconds ?? 0, source.segments.at(-1)?.endSeconds ?? 0];
    const about = { type: 'translated', utterance, language: to, spokenLanguage: from } as const;
    if (from === to) {
      this.#emit({ ...about, startSeconds, endSeconds, text });
      return;
    }
    const timed = sentenceTimer(source);
    // Of its own: a crash is counted against the sentences, not against the session.
    const origin: WorkOrigin = { requestId, accountId, background: false, sha256: null };
    if (translator?.supports(from, to) !== true) {
      this.#failed({ utterance, startSeconds, endSeconds }, untranslatable(from, to));
      return;
    }
    const measured = extraWork.begin('translated');
    try {
      await translator.translate({
        ...{ accountId, origin, background: false, signal: this.signal, text: source.text, from, to },
        translated: ({ sentence }) => this.#emit({ ...about, ...timed(sentence) }),
      });
    } catch (error) {
      this.#failed({ utterance, startSeconds, endSeconds }, error);
    } finally {
      measured(endSeconds - startSeconds);
    }
  }

  #failed(stretch: Pick<FailedResult, 'utterance' | 'startSeconds' | 'endSeconds'>, error: unknown): void {
    const { utterance, startSeconds, endSeconds } = stretch;
    this.#emit({ type: 'translation_failed', utterance, startSeconds, endSeconds, error: requestError(error) });
  }

  #emit(event: Parameters<TranslatorParts['emit']>[0]): void {
    if (!this.signal.aborted) this.parts.emit(event);
  }
}

function untranslatable(from: string, to: string): VerbatimError {
  return new VerbatimError('unsupported_translation', `No installed model translates "${from}" into "${to}".`);
}
