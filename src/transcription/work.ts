/**
 * The work for an answer, free of money: convert and measure, then transcribe, find speakers, translate and caption.
 * The server's requests, its jobs and the command line all call it.
 */
import { VerbatimError } from '../errors.js';
import { removeFile } from '../remove-file.js';
import type { FileToConvert, SpeechEngine, Transcript, TranscriptTimings, WorkOrigin } from '../engine/types.js';
import { answerPartsOf, decodeOptionsFor, type AnswerParts } from './answer-parts.js';
import type { LanguageSupport } from './language-support.js';
import type { TranscriptionOptions } from './options.js';
import type { PaidWork } from './price.js';
import { recogniseFile, type RecognisedFile } from './recognition.js';
import type { Translation } from './result.js';
import type { ResultStream } from './result-stream.js';
import { translationOf } from './translation.js';
import { warningsOf, type Warning } from './warnings.js';

/** A file that the engine reads. */
export interface MeasuredAudio {
  /** The file itself, or the file it was converted to. */
  path: string;
  seconds: number;
  /** That it took to convert and to measure it, turns waited for included. */
  readMs: number;
}

/**
 * The file is converted to `to` where only ffmpeg reads it. Rejects as SpeechEngine.convert() and measure() do; nothing
 * is left of the conversion then.
 */
export async function measureAudio(
  engine: Pick<SpeechEngine, 'convert' | 'measure'>,
  file: FileToConvert,
): Promise<MeasuredAudio> {
  const startedAt = performance.now();
  const read = (await convertedAudio(engine, file)) ?? { path: file.path, seconds: await engine.measure(file) };
  return { ...read, readMs: performance.now() - startedAt };
}

/**
 * The same of a file that was measured before, and is measured again only where it has to be converted again. Rejects
 * with `invalid_audio` where it then has another length than the one that is paid for.
 */
export async function rereadAudio(
  engine: Pick<SpeechEngine, 'convert' | 'measure'>,
  file: FileToConvert,
  seconds: number,
): Promise<MeasuredAudio> {
  const startedAt = performance.now();
  const converted = await convertedAudio(engine, file);
  if (converted === null) return { path: file.path, seconds, readMs: 0 };
  if (Math.abs(converted.seconds - seconds) < SAME_LENGTH_SECONDS) {
    return { ...converted, readMs: performance.now() - startedAt };
  }
  await removeFile(file.to);
  const [then, now] = [seconds, converted.seconds].map((length) => length.toFixed(3));
  throw new VerbatimError(
    'invalid_audio',
    `The audio had ${then} s when it was accepted, and has ${now} s now that it was converted again. Send it again.`,
  );
}

const SAME_LENGTH_SECONDS = 0.001;

/** Beside the file. */
export function convertedPath(path: string): string {
  return `${path}.flac`;
}

async function convertedAudio(
  engine: Pick<SpeechEngine, 'convert' | 'measure'>,
  file: FileToConvert,
): Promise<Pick<MeasuredAudio, 'path' | 'seconds'> | null> {
  if (!(await engine.convert(file))) return null;
  try {
    return { path: file.to, seconds: await engine.measure({ ...file, path: file.to }) };
  } catch (error) {
    await removeFile(file.to);
    throw error;
  }
}

/** What is to be done, and in whose turns. */
export interface WorkOrder {
  audio: MeasuredAudio;
  accountId: string;
  origin?: WorkOrigin | undefined;
  options: TranscriptionOptions;
  signal: AbortSignal;
  /** Behind the account's other requests; default: no. */
  background?: boolean | undefined;
  /** Where text is sent while it is made. */
  stream?: ResultStream | undefined;
  /** How many seconds of the file lie behind. */
  onProgress?: ((seconds: number) => void) | undefined;
  /** The speech is transcribed; the translation may still fail. */
  onTranscribed?: ((timings: TranscriptTimings) => void) | undefined;
}

export interface WorkDeps {
  engine: Pick<SpeechEngine, 'info' | 'transcribe'>;
  languages: LanguageSupport;
}

export interface WorkTimings extends TranscriptTimings {
  translateMs: number;
}

export interface FinishedWork extends AnswerParts {
  /** The name of the speech model. */
  model: string;
  language: string;
  durationSeconds: number;
  translation: Translation | null;
  warnings: Warning[];
  /** What of it has a price of its own. */
  extras: PaidWork;
  /** The demonstration model recognised nothing of the speech that was found. */
  nothingRecognised: boolean;
  /** As the model decoded it. */
  transcript: Transcript;
  timings: WorkTimings;
}

/** Rejects as recogniseFile() and translationOf() do. */
export async function transcribeAudio(order: WorkOrder, { engine, languages }: WorkDeps): Promise<FinishedWork> {
  const { audio, accountId, origin, options, signal, background = false, stream } = order;
  const shared = { path: audio.path, accountId, origin, signal, background };
  const file = { ...shared, ...decodeOptionsFor(options, engine) };
  const recognised = await recogniseFile(
    { ...file, seconds: audio.seconds, language: options.language ?? 'auto', isStreamed: stream?.isLive === true },
    options,
    { engine, languages },
    (update) => {
      stream?.onWindow(update);
      order.onProgress?.(update.seconds);
    },
  );
  const { transcript, timeline } = recognised;
  order.onTranscribed?.(transcript.timings);
  const context = { recognised: transcript.segments, timeline };
  const parts = await answerPartsOf(transcript, options, context);
  const translating = { to: options.translateTo, file, stream, parts, context };
  const { translation, isTranslated, translateMs } = await translated(recognised, translating, options, {
    engine,
    languages,
  });
  const { language, durationSeconds, timings } = transcript;
  return {
    ...{ ...parts, language, durationSeconds, translation, transcript },
    model: engine.info.modelName,
    warnings: warningsOf(transcript, engine.info),
    nothingRecognised: engine.info.isDemonstration && transcript.windows > 0 && transcript.text.trim() === '',
    extras: {
      translated: isTranslated,
      diarized: parts.segments?.some(({ speaker }) => speaker !== undefined) === true,
    },
    timings: { ...timings, readMs: timings.readMs + audio.readMs, translateMs },
  };
}

interface TranslationOrder {
  to: string | null;
  file: Parameters<typeof translationOf>[1]['file'];
  stream: ResultStream | undefined;
  /** Of the transcript: the translation's, too, where that is in the language already. */
  parts: AnswerParts;
  context: Parameters<typeof answerPartsOf>[2];
}

async function translated(
  { transcript }: RecognisedFile,
  { to, file, stream, parts, context }: TranslationOrder,
  options: TranscriptionOptions,
  deps: WorkDeps,
): Promise<{ translation: Translation | null; isTranslated: boolean; translateMs: number }> {
  if (to === null) return { translation: null, isTranslated: false, translateMs: 0 };
  const startedAt = performance.now();
  const { translation, isTranslated } = await translationOf(transcript, { to, file, stream }, deps);
  const translateMs = isTranslated ? performance.now() - startedAt : 0;
  const { text, segments, described } =
    translation === transcript ? parts : await answerPartsOf(translation, options, context);
  return { translation: { language: to, text, segments, described }, isTranslated, translateMs };
}
