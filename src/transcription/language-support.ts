/**
 * The abilities of the installed models, languages above all: requests beyond them are refused before any audio is
 * read.
 */
import type { Diarizer, NoDiarizer, EngineInfo, TranslatedPart, TranslatedText, WorkOrigin } from '../engine/types.js';
import { VerbatimError } from '../errors.js';
import { wantsWords, type TranscriptionOptions } from './options.js';

/** Texts of one language into another; absent until a translation model is installed. */
export interface TextTranslator {
  /** Whether an installed model, or a pivot over two of them, covers the pair. */
  supports(from: string, to: string): boolean;
  /** Rejects with signal.reason when aborted. */
  translate(input: {
    accountId: string;
    origin?: WorkOrigin | undefined;
    text: string;
    from: string;
    to: string;
    /** Whether it takes its turns behind the account's others. */
    background: boolean;
    signal: AbortSignal;
    /** Called with each sentence, in order, as soon as it is translated; joined, their texts are the translation's. */
    translated?: ((part: TranslatedPart) => void) | undefined;
  }): Promise<TranslatedText>;
}

export class LanguageSupport {
  constructor(
    private readonly engine: Pick<
      EngineInfo,
      'languages' | 'modelName' | 'translatesToEnglish' | 'abilities' | 'alignsWords'
    >,
    private readonly translator: TextTranslator | undefined,
    private readonly diarizer: Diarizer | NoDiarizer,
  ) {}

  /**
   * Throws `unsupported_language`, `unsupported_translation`, `unsupported_diarization`, or `invalid_request` for word
   * times, a prompt, or a temperature.
   */
  check(options: TranscriptionOptions): void {
    const { language, translateTo, diarize, timestamps } = options;
    this.#checkAbilities(options);
    if (timestamps === 'word' && wantsWords(options)) this.#checkWords();
    if (language !== null) this.#checkSpoken(language);
    if (translateTo !== null) this.#checkTarget(language, translateTo);
    if (diarize) this.diarizerFor(language);
  }

  /**
   * What distinguishes its speakers; null: any language that the speech model knows. Throws `unsupported_diarization`.
   */
  diarizerFor(language: string | null): Diarizer {
    const { diarizer } = this;
    if ('unavailable' in diarizer) throw unsupportedDiarization(diarizer.unavailable);
    const { alignsWords, modelName, languages } = this.engine;
    if (!alignsWords) {
      throw unsupportedDiarization(`The speech model ${modelName} gives no times of words.`);
    }
    const spoken = language === null ? languages : [language];
    if (spoken.some((code) => diarizer.serves(code))) return diarizer;
    const what = language === null ? 'any language of the speech model' : `"${language}"`;
    throw unsupportedDiarization(`No installed model distinguishes speakers of ${what}.`);
  }

  /** Whether speakers can be distinguished, whatever the language turns out to be. */
  diarizesAny(): boolean {
    try {
      this.diarizerFor(null);
      return true;
    } catch (error) {
      if (error instanceof VerbatimError) return false;
      throw error;
    }
  }

  /** What translates the pair: a text translator, else the speech model itself. Throws `unsupported_translation`. */
  translatorFor(from: string, to: string): TextTranslator | 'speech model' {
    if (this.translator?.supports(from, to)) return this.translator;
    if (this.#spokenInto(from, to)) return 'speech model';
    throw unsupportedPair(`"${from}"`, to);
  }

  /** Whisper's translate task knows one target. */
  #spokenInto(from: string, to: string): boolean {
    return to === 'en' && this.engine.translatesToEnglish && this.engine.languages.includes(from);
  }

  covers(from: string, to: string): boolean {
    return this.translatesText(from, to) || this.#spokenInto(from, to);
  }

  /** Without the audio. */
  translatesText(from: string, to: string): boolean {
    return this.translator?.supports(from, to) === true;
  }

  #checkWords(): void {
    if (this.engine.alignsWords) return;
    const message = 'timestamps must be one of: none, segment; the speech model in use aligns no words.';
    throw new VerbatimError('invalid_request', message, { param: 'timestamps' });
  }

  #checkAbilities({ language, prompt, temperature }: TranscriptionOptions): void {
    const { abilities, modelName, languages } = this.engine;
    if (language === null && !abilities.detectsLanguage) {
      const known = languages.join(', ');
      const message = `The model ${modelName} does not detect the spoken language; name one of: ${known}.`;
      throw new VerbatimError('unsupported_language', message, { param: 'language' });
    }
    if (prompt !== null && !abilities.takesPrompt) {
      const message = `prompt must not be sent: the model ${modelName} takes none.`;
      throw new VerbatimError('invalid_request', message, { param: 'prompt' });
    }
    if (temperature > 0 && !abilities.takesTemperature) {
      const message = `temperature must be 0: the model ${modelName} knows no other.`;
      throw new VerbatimError('invalid_request', message, { param: 'temperature' });
    }
  }

  #checkSpoken(language: string): void {
    const { languages, modelName } = this.engine;
    if (languages.includes(language)) return;
    throw new VerbatimError(
      'unsupported_language',
      `The model ${modelName} does not speak "${language}"; it speaks: ${languages.join(', ')}.`,
      { param: 'language' },
    );
  }

  /** With the language still to be detected, one that the model speaks may turn out to be the spoken one. */
  #checkTarget(language: string | null, to: string): void {
    if (language !== null) {
      if (language !== to) this.translatorFor(language, to);
      return;
    }
    const { languages } = this.engine;
    if (languages.includes(to) || languages.some((from) => this.covers(from, to))) return;
    throw unsupportedPair('any language the speech model knows', to);
  }
}

function unsupportedDiarization(message: string): VerbatimError {
  return new VerbatimError('unsupported_diarization', message, { param: 'diarize' });
}

function unsupportedPair(source: string, to: string): VerbatimError {
  return new VerbatimError('unsupported_translation', `No installed model translates ${source} into "${to}".`, {
    param: 'translate_to',
  });
}
