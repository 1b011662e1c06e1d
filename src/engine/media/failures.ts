/** What became of a conversion, in words for whoever sent the file. ffmpeg's own name paths of this machine, and are kept as the cause. */
import { EngineError } from '../native-errors.js';
import type { Container } from './containers.js';

export interface HowItEnded {
  /** It was not even started. */
  error: Error | null;
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last of its standard error. */
  words: string;
  /** It was told of samples in another file, and left them there. */
  refersElsewhere: boolean;
}

/** As a shell has it, and prlimit and setpriv: the program is not there, or cannot be run. */
const NOT_RUN = [126, 127];

const FULL_DISK = /No space left on device|Disk quota exceeded/;

/** Tried one after another on what ffmpeg says; its words since version 5. */
const SAID: readonly (readonly [RegExp, (name: string, words: string) => EngineError])[] = [
  [
    // Of video, too, a decoder may be "not on whitelist": nobody minds.
    /Decoder \(codec .*\) not found|[Ee]rror (while )?opening decoder/,
    (name, words) =>
      unsupported(`the sound of the ${name} file is in a codec that is not read${codecIn(words)}`),
  ],
  [/matches no streams/, (name) => invalid(`the ${name} file has no audio track`)],
  [/moov atom not found/, (name) => invalid(`the ${name} file is cut off: its index (moov) is missing`)],
  [/Cannot allocate memory/, tooCostly],
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
    ? `the sound of the ${name} file is said to lie in another file, and none is opened but the one that was given`
    : `the ${name} file holds no audio that can be decoded`;
  return new EngineError('invalid_audio', message, { cause: new Error(`ffmpeg: ${words}`) });
}

function ofStart(error: NodeJS.ErrnoException, name: string): Error {
  return error.code === 'ENOENT' || error.code === 'EACCES' ? withoutFfmpeg(name) : error;
}

function ofExit({ code, signal, words }: HowItEnded, name: string): Error {
  if (code !== null && NOT_RUN.includes(code)) return withoutFfmpeg(name);
  if (FULL_DISK.test(words)) return Object.assign(new Error('The disk is full.'), { code: 'ENOSPC' });
  // SIGXCPU is heard by ffmpeg, which then ends by itself.
  if (signal === 'SIGKILL' || signal === 'SIGXFSZ' || words.includes('received signal 24'))
    return tooCostly(name);
  if (signal !== null) return invalid(`the ${name} file is broken: its decoder failed on it`);
  const [, said] = SAID.find(([pattern]) => pattern.test(words)) ?? [];
  return said?.(name, words) ?? invalid(`the ${name} file is broken: it cannot be decoded`);
}

function withoutFfmpeg(name: string): EngineError {
  return unsupported(
    `the file is ${name}, which takes ffmpeg to read, and there is no ffmpeg on this machine`,
  );
}

function tooCostly(name: string): EngineError {
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
