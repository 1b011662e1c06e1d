/** Whether a model can do what a live session asks of it. */
import type { EngineInfo } from '../engine/types.js';
import { LanguageSupport } from '../transcription/language-support.js';
import { ANY_SPEAKERS } from '../transcription/options.js';
import type { LiveSettings } from './options.js';

/** Throws `unsupported_language`, or `invalid_request` for a prompt that the model does not take. */
export function checkLiveSettings(info: EngineInfo, { language, prompt }: Pick<LiveSettings, 'language' | 'prompt'>) {
  const diarizer = { unavailable: 'Speakers are not distinguished in live sessions.' };
  new LanguageSupport(info, undefined, diarizer).check({
    ...{ model: null, language, translateTo: null, punctuate: true, diarize: false, ...ANY_SPEAKERS },
    ...{ timestamps: 'none', format: 'json', prompt, describe: false, temperature: 0 },
  });
}
