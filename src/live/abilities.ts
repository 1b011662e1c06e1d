/** What the installed models can do in live sessions. */
import type { Diarizer, EngineInfo, NoDiarizer } from '../engine/types.js';
import { VerbatimError } from '../errors.js';
import type { EngineLease } from '../transcription/engine-lease.js';
import { LanguageSupport } from '../transcription/language-support.js';
import { targetsOf } from '../transcription/offer.js';
import { ANY_SPEAKERS } from '../transcription/options.js';
import type { LiveSettings } from './options.js';

/** Settings that not every model serves. */
export type CheckedSettings = Pick<LiveSettings, 'language' | 'prompt' | 'translateTo' | 'diarize'>;

export class LiveAbilities {
  readonly info: EngineInfo;
  readonly #translator: EngineLease['translator'];
  #targets: readonly string[] | null = null;

  constructor(
    { info, translator }: Pick<EngineLease, 'info' | 'translator'>,
    private readonly diarizer: Diarizer | NoDiarizer,
  ) {
    this.info = info;
    this.#translator = translator;
  }

  /** Languages that text of the speech model can be translated into. Whisper's own translation is for files. */
  get targets(): readonly string[] {
    return (this.#targets ??= targetsOf(this.info.languages, (from, to) => this.#translates(from, to)));
  }

  /**
   * Throws `unsupported_language`, `unsupported_translation` that names the languages that there are,
   * `unsupported_diarization`, or `invalid_request` for a prompt that the model does not take.
   */
  check({ language, prompt, translateTo, diarize }: CheckedSettings): void {
    new LanguageSupport(this.info, this.#translator, this.diarizer).check({
      ...{ model: null, language, translateTo: null, punctuate: true, diarize, ...ANY_SPEAKERS },
      ...{ timestamps: 'none', format: 'json', prompt, describe: false, temperature: 0 },
    });
    if (translateTo !== null && translateTo !== language) this.#checkTarget(language, translateTo);
  }

  /** A language that is yet to be detected may be any other one. */
  #checkTarget(language: string | null, to: string): void {
    const spoken = language === null ? this.info.languages : [language];
    if (spoken.some((from) => from !== to && this.#translates(from, to))) return;
    const { targets } = this;
    const installed = targets.length === 0 ? 'no model for it is installed' : `there are: ${targets.join(', ')}`;
    const message = `Live text cannot be translated into "${to.slice(0, 35)}"; ${installed}.`;
    throw new VerbatimError('unsupported_translation', message, { param: 'translate_to' });
  }

  #translates(from: string, to: string): boolean {
    return this.#translator?.supports(from, to) === true;
  }
}
