/** A transcript in another language: its sentences translated, or its audio heard once more by the speech model. */
import type { FileToTranscribe, SpeechEngine, Transcript } from '../engine/types.js';
import type { LanguageSupport, TextTranslator } from './language-support.js';
import { timedSentences } from './sentence-times.js';
import type { TimedTranscript } from './spoken.js';
import type { Telling } from './telling.js';

export interface TranslationRequest {
  to: string;
  /** What the transcript is of, and how it was heard. */
  file: Pick<
    FileToTranscribe,
    'path' | 'accountId' | 'origin' | 'align' | 'prompt' | 'describe' | 'temperature'
  > & {
    signal: AbortSignal;
    background?: boolean;
  };
  telling?: Telling | undefined;
}

export interface TranslationDeps {
  engine: Pick<SpeechEngine, 'transcribeFile'>;
  languages: Pick<LanguageSupport, 'translatorFor'>;
}

/**
 * With the times at which each sentence was said. Rejects as transcribeFile() and TextTranslator.translate() do, and with what
 * LanguageSupport.translatorFor() throws. Nothing is translated where nothing was said.
 */
export async function translationOf(
  transcript: Transcript,
  { to, file, telling }: TranslationRequest,
  { engine, languages }: TranslationDeps,
): Promise<{ translation: TimedTranscript; isTranslated: boolean }> {
  const { language, durationSeconds } = transcript;
  if (to === language) return { translation: transcript, isTranslated: false };
  const translator = languages.translatorFor(language, to);
  if (transcript.text.trim() === '') {
    return { translation: { language: to, durationSeconds, text: '', segments: [] }, isTranslated: false };
  }
  const { text, segments } =
    translator === 'speech model'
      ? // With Whisper's translate task.
        await engine.transcribeFile({
          ...file,
          ...{ language, task: 'translate', after: transcript, heard: telling?.heardTranslated },
        })
      : await sentenceBySentence(translator, transcript, { to, file, telling });
  return { translation: { language: to, durationSeconds, text, segments }, isTranslated: true };
}

async function sentenceBySentence(
  translator: TextTranslator,
  transcript: Transcript,
  { to, file: { accountId, origin, background = false, signal }, telling }: TranslationRequest,
): Promise<Pick<TimedTranscript, 'text' | 'segments'>> {
  const { text: source, language: from } = transcript;
  const { text, sentences } = await translator.translate({
    ...{ accountId, origin, background, signal },
    ...{ text: source, from, to, translated: telling?.translatedOf(transcript) },
  });
  return { text, segments: timedSentences(sentences, transcript) };
}
