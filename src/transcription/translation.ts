/**
 * A transcript in another language: its sentences translated, or its audio recognised once more by the speech model.
 */
import type { FileToTranscribe, SpeechEngine, Transcript } from '../engine/types.js';
import type { LanguageSupport, TextTranslator } from './language-support.js';
import { timedSentences } from './sentence-times.js';
import type { TimedTranscript } from './answer-parts.js';
import type { ResultStream } from './result-stream.js';

export interface TranslationRequest {
  to: string;
  /** The file of the transcript, and how it was decoded. */
  file: Pick<FileToTranscribe, 'path' | 'accountId' | 'origin' | 'align' | 'prompt' | 'describe' | 'temperature'> & {
    signal: AbortSignal;
    background?: boolean;
  };
  stream?: ResultStream | undefined;
}

export interface TranslationDeps {
  engine: Pick<SpeechEngine, 'transcribe'>;
  languages: Pick<LanguageSupport, 'translatorFor'>;
}

/**
 * With the times of each sentence. Rejects as SpeechEngine.transcribe() and TextTranslator.translate() do, and with
 * what LanguageSupport.translatorFor() throws. Nothing is translated where nothing was recognised.
 */
export async function translationOf(
  transcript: Transcript,
  { to, file, stream }: TranslationRequest,
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
        await engine.transcribe(
          { ...file, language, task: 'translate', seconds: durationSeconds, isStreamed: stream?.isLive === true },
          stream?.onTranslatedWindow,
        )
      : await sentenceBySentence(translator, transcript, { to, file, stream });
  return { translation: { language: to, durationSeconds, text, segments }, isTranslated: true };
}

async function sentenceBySentence(
  translator: TextTranslator,
  transcript: Transcript,
  { to, file: { accountId, origin, background = false, signal }, stream }: TranslationRequest,
): Promise<Pick<TimedTranscript, 'text' | 'segments'>> {
  const { text: source, language: from } = transcript;
  const { text, sentences } = await translator.translate({
    ...{ accountId, origin, background, signal },
    ...{ text: source, from, to, translated: stream?.translatedOf(transcript) },
  });
  return { text, segments: timedSentences(sentences, transcript) };
}
