/**
 * Why a conversion failed, in words for the client. ffmpeg's own words name paths of this machine; they are kept as the
 * cause.
 */
import { EngineError } from '../native-errors.js';
import type { Container } from './containers.js';

export interface HowItEnded {
  /** It was not even started. */
  error: Error | null;
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last of its standard error. */
  words: string;
  /** The samples are in another file, which was not opened. */
  refersElsewhere: boolean;
  /** It had used all the processor time that it may: then the kernel kills it. */
  hadItsTime: boolean;
}

/** Somebody else ended ffmpeg, as the kernel does where memory is short: that says nothing of the file. */
export class ConversionKilled extends Error {
  override readonly name = 'ConversionKilled';
}

/** Exit codes of a shell, prlimit and setpriv: the program does not exist, or cannot be run. */
const NOT_RUN = [126, 127];

/** ffmpeg catches SIGHUP, SIGINT, SIGQUIT and SIGTERM, and then ends with this code and these words. */
const ENDING_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'];
const CAUGHT = { code: 255, words: /^Exiting normally, received signal (\d+)\.$/m };
const SIGXCPU = '24';

const FULL_DISK = /No space left on device|Disk quota exceeded/;

/** Tried one after another on what ffmpeg says; its words since version 5. */
const FAILURES: readonly (readonly [RegExp, (name: string, words: string) => EngineError])[] = [
  [
    // A video decoder may be "not on whitelist", too; only audio matters.
    /Decoder \(codec .*\) not found|[Ee]rror (while )?opening decoder/,
    (name, words) => unsupported(`the sound of the ${name} file is in a codec that is not read${codecIn(words)}`),
  ],
  [/matches no streams/, (name) => invalid(`the ${name} file has no audio track`)],
  [/moov atom not found/, (name) => invalid(`the ${name} file is cut off: its index (moov) is missing`)],
  [/Cannot allocate memory/, overLimits],
];

/** null: it went well. */
export function failureOfConversion(ended: HowItEnded, { name }: Container): Error | null {
  const { error, code, signal, words } = ended;
  if (code === 0) return null;
  const failure = error === null ? ofExit(ended, name) : ofStart(error, name);
  failure.cause ??= new Error(`ffmpeg: ${signal ?? `exit code ${code}`} ${words}`.trim());
  return failure;
}

/** It found nothing to write. */
export function noSamples({ words, refersElsewhere }: HowItEnded, { name }: Container): EngineError {
  const message = refersElsewhere
    ? `the sound of the ${name} file lies in another file, and none is opened but the one that was given`
    : `the ${name} file holds no audio that can be decoded`;
  return new EngineError('invalid_audio', message, { cause: new Error(`ffmpeg: ${words}`) });
}

function ofStart(error: NodeJS.ErrnoException, name: string): Error {
  return error.code === 'ENOENT' || error.code === 'EACCES' ? withoutFfmpeg(name) : error;
}

function ofExit({ code, signal, words, hadItsTime }: HowItEnded, name: string): Error {
  if (code !== null && NOT_RUN.includes(code)) return withoutFfmpeg(name);
  if (FULL_DISK.test(words)) return Object.assign(new Error('The disk is full.'), { code: 'ENOSPC' });
  const caught = code === CAUGHT.code ? (CAUGHT.words.exec(words)?.[1] ?? null) : null;
  if (signal === 'SIGXCPU' || signal === 'SIGXFSZ' || caught === SIGXCPU) return overLimits(name);
  if (signal === 'SIGKILL' && hadItsTime) return overLimits(name);
  if (signal === 'SIGKILL' || ENDING_SIGNALS.includes(signal ?? '') || caught !== null) return killed(name);
  if (signal !== null) return invalid(`the ${name} file is broken: its decoder failed on it`);
  const [, failure] = FAILURES.find(([pattern]) => pattern.test(words)) ?? [];
  return failure?.(name, words) ?? invalid(`the ${name} file is broken: it cannot be decoded`);
}

function killed(name: string): Error {
  return new ConversionKilled(`ffmpeg was killed while it decoded the ${name} file`);
}

function withoutFfmpeg(name: string): EngineError {
  return unsupported(
    `the file is ${name}, which takes ffmpeg to read, and there is no ffmpeg on this machine: install ffmpeg, ` +
      'or send WAV, FLAC, MP3 or OGG',
  );
}

/** It uses processor time and yields hardly any audio. */
export function tooCostly({ name }: Container): EngineError {
  return invalid(`decoding the ${name} file takes too much processor time for the audio that comes of it`);
}

function overLimits(name: string): EngineError {
  return invalid(`decoding the ${name} file takes more processor time or memory than is allowed`);
}

/** The name is ffmpeg's own, never the file's. */
function codecIn(words: string): string {
  const found = /Codec \(([a-z0-9_]{1,32})\) not on whitelist/g;
  const last = [...words.matchAll(found)].at(-1)?.[1];
  return last === undefined ? '' : ` (${last})`;
}

function unsupported(message: string): EngineError {
  return new EngineError('unsupported_audio_format', message);
}

function invalid(message: string): EngineError {
  return new EngineError('invalid_audio', message);
}
