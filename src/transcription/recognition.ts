/** The speech of a file and, side by side with it, its speakers. */
import { EngineError } from '../engine/native-errors.js';
import type { SpeakerTurn } from '../engine/speakers/speaker-turn.js';
import type { FileToTranscribe, OnWindow, SpeechEngine, Transcript } from '../engine/types.js';
import { VerbatimError } from '../errors.js';
import type { LanguageSupport } from './language-support.js';
import type { TranscriptionOptions } from './options.js';
import { SpeakerTimeline } from './speaker-timeline.js';

export interface RecognisedFile {
  transcript: Transcript;
  /** null: nobody asked who speaks. */
  timeline: SpeakerTimeline | null;
}

export interface RecognitionDeps {
  engine: Pick<SpeechEngine, 'transcribe'>;
  languages: Pick<LanguageSupport, 'diarizerFor'>;
}

type SpeakerOptions = Pick<TranscriptionOptions, 'diarize' | 'language' | 'minSpeakers' | 'maxSpeakers'>;

/**
 * Rejects as SpeechEngine.transcribe() and diarizerFor() do. Speakers are found by another process at the same time;
 * what fails first stops the other.
 */
export async function recogniseFile(
  file: FileToTranscribe,
  options: SpeakerOptions,
  { engine, languages }: RecognitionDeps,
  onWindow?: OnWindow,
): Promise<RecognisedFile> {
  if (!options.diarize) return { transcript: await engine.transcribe(file, onWindow), timeline: null };
  const stop = new AbortController();
  const signal = file.signal === undefined ? stop.signal : AbortSignal.any([file.signal, stop.signal]);
  const diarization = turnsIn({ ...file, signal }, options, languages);
  diarization.catch((error: unknown) => stop.abort(error));
  try {
    const transcript = await engine.transcribe({ ...file, signal }, (update) => {
      // No hours are transcribed of speech that is to be refused.
      if (update.language !== null) abortUnlessServed(update.language, languages, stop);
      onWindow?.(update);
    });
    // A language that was detected in silence says nothing.
    if (transcript.text.trim() !== '') languages.diarizerFor(transcript.language);
    return { transcript, timeline: new SpeakerTimeline(await diarization, transcript.durationSeconds) };
  } catch (error) {
    stop.abort(error);
    await diarization.catch(() => undefined);
    throw error;
  }
}

function abortUnlessServed(language: string, languages: RecognitionDeps['languages'], stop: AbortController): void {
  try {
    languages.diarizerFor(language);
  } catch (error) {
    stop.abort(error);
  }
}

async function turnsIn(
  { path, accountId, background = false, signal, seconds: durationSeconds }: FileToTranscribe,
  { language, minSpeakers, maxSpeakers }: SpeakerOptions,
  languages: Pick<LanguageSupport, 'diarizerFor'>,
): Promise<SpeakerTurn[]> {
  try {
    const diarizer = languages.diarizerFor(language);
    const request = { path, accountId, background, durationSeconds, minSpeakers, maxSpeakers };
    return await diarizer.diarize({ ...request, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    throw ofDiarization(error);
  }
}

/** The file was measured before, so that whatever is wrong now is no fault of the request. */
function ofDiarization(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  const message = 'The speakers of this file could not be found: the process that looks for them failed.';
  return new VerbatimError('internal_error', message, { cause: error });
}
