/** A transcription on this machine without a server, an account or a charge: what `verbatim transcribe` does. */
import type { TranslationEngine } from '../engine/translation/translation-engine.js';
import type { SpeechEngine, Transcript } from '../engine/types.js';
import { LanguageSupport } from '../transcription/language-support.js';
import { withoutPunctuation } from '../transcription/punctuation.js';
import type { TranscriptionOptions } from '../transcription/options.js';
import { warningsOf, type Warning } from '../transcription/warnings.js';
import type { ServiceContext } from './context.js';
import { loadEngine } from './speech-engine.js';
import { createTranslationEngine } from './translation-engine.js';

export interface LocalTranscription {
  transcript: Transcript;
  translation: { language: string; text: string } | null;
  warnings: Warning[];
}

const ACCOUNT = 'local';

/** Rejects as SpeechEngine.transcribeFile() does, and with what LanguageSupport.check() throws. */
export async function transcribeLocally(
  path: string,
  options: TranscriptionOptions,
  { config, roots, manifest }: ServiceContext,
): Promise<LocalTranscription> {
  const engine = await loadEngine(config, roots, manifest);
  const translator = createTranslationEngine(config, roots, manifest);
  try {
    const run = new LocalRun(engine, translator, config.maxAudioSeconds);
    return await run.transcribe(path, options);
  } finally {
    await engine.close();
    await translator.close();
  }
}

class LocalRun {
  private readonly support: LanguageSupport;

  constructor(
    private readonly engine: SpeechEngine,
    translator: TranslationEngine,
    private readonly maxSeconds: number,
  ) {
    this.support = new LanguageSupport(engine, translator);
  }

  async transcribe(path: string, options: TranscriptionOptions): Promise<LocalTranscription> {
    this.support.check(options);
    const { language, translateTo: to, punctuate } = options;
    const transcript = await this.engine.transcribeFile({
      ...{ path, accountId: ACCOUNT, language: language ?? 'auto' },
      maxSeconds: this.maxSeconds,
    });
    const translated =
      to === null ? null : { language: to, text: await this.translate(path, transcript, to) };
    const warnings = warningsOf(transcript, this.engine);
    if (punctuate) return { transcript, translation: translated, warnings };
    const translation = translated && unpunctuated(translated);
    return { transcript: plainTranscript(transcript), translation, warnings };
  }

  private async translate(path: string, transcript: Transcript, to: string): Promise<string> {
    const { language } = transcript;
    if (to === language) return transcript.text;
    const translator = this.support.translatorFor(language, to);
    if (translator === 'speech model') {
      const pass = { path, accountId: ACCOUNT, language, task: 'translate', after: transcript } as const;
      return (await this.engine.transcribeFile(pass)).text;
    }
    const { signal } = new AbortController();
    const { text } = transcript;
    return (await translator.translate({ accountId: ACCOUNT, text, from: language, to, signal })).text;
  }
}

function unpunctuated<T extends { language: string; text: string }>(spoken: T): T {
  return { ...spoken, text: withoutPunctuation(spoken.text, spoken.language) };
}

function plainTranscript(transcript: Transcript): Transcript {
  const { language, segments } = transcript;
  const plain = segments.map((segment) => ({ ...segment, text: withoutPunctuation(segment.text, language) }));
  return { ...unpunctuated(transcript), segments: plain };
}
