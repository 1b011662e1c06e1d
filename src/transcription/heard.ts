/** What is said in a file and, side by side with it, who says it. */
import { EngineError } from '../engine/native-errors.js';
import type { SpeakerTurn } from '../engine/speakers/speaker-turn.js';
import type { FileToTranscribe, HeardPart, SpeechEngine, Transcript } from '../engine/types.js';
import { VerbatimError } from '../errors.js';
import type { LanguageSupport } from './language-support.js';
import type { TranscriptionOptions } from './options.js';
import { SpeakerTimeline } from './speaker-timeline.js';

export interface HeardFile {
  transcript: Transcript;
  /** null: nobody asked who speaks. */
  timeline: SpeakerTimeline | null;
}

export interface HearingDeps {
  engine: Pick<SpeechEngine, 'transcribeFile'>;
  languages: Pick<LanguageSupport, 'diarizerFor'>;
}

type SpeakerOptions = Pick<TranscriptionOptions, 'diarize' | 'language' | 'minSpeakers' | 'maxSpeakers'>;

/**
 * Rejects as transcribeFile() and diarizerFor() do. The file is listened to for speakers as soon as it is `measured`, by another
 * process; what fails first stops the other.
 */
export async function heardIn(
  file: FileToTranscribe,
  options: SpeakerOptions,
  { engine, languages }: HearingDeps,
): Promise<HeardFile> {
  if (!options.diarize) return { transcript: await engine.transcribeFile(file), timeline: null };
  const stop = new AbortController();
  const signal = file.signal === undefined ? stop.signal : AbortSignal.any([file.signal, stop.signal]);
  const listening: { turns?: Promise<SpeakerTurn[]> } = {};
  const measured = async (durationSeconds: number): Promise<void> => {
    await file.measured?.(durationSeconds);
    listening.turns = turnsIn({ ...file, signal }, durationSeconds, options, languages);
    listening.turns.catch((error: unknown) => stop.abort(error));
  };
  // No hours are transcribed of speech that is to be refused.
  const heard = (part: HeardPart): void => {
    languages.diarizerFor(part.language);
    file.heard?.(part);
  };
  try {
    const transcript = await engine.transcribeFile({ ...file, signal, measured, heard });
    // A language that was detected in silence says nothing.
    if (transcript.text.trim() !== '') languages.diarizerFor(transcript.language);
    const turns = await listening.turns;
    if (turns === undefined) throw new Error('The engine answered before it told the duration.');
    return { transcript, timeline: new SpeakerTimeline(turns, transcript.durationSeconds) };
  } catch (error) {
    stop.abort(error);
    await listening.turns?.catch(() => undefined);
    throw error;
  }
}

async function turnsIn(
  { path, accountId, background = false, signal }: FileToTranscribe,
  durationSeconds: number,
  { language, minSpeakers, maxSpeakers }: SpeakerOptions,
  languages: Pick<LanguageSupport, 'diarizerFor'>,
): Promise<SpeakerTurn[]> {
  try {
    const diarizer = languages.diarizerFor(language);
    const asked = { path, accountId, background, durationSeconds, minSpeakers, maxSpeakers };
    return await diarizer.diarize({ ...asked, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    throw ofDiarization(error);
  }
}

/** The file was measured before, so that whatever is wrong now is no fault of the request. */
function ofDiarization(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  const message = 'Who speaks in this file could not be told: the process that listens for it failed.';
  return new VerbatimError('internal_error', message, { cause: error });
}
