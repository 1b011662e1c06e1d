/** What a person at the terminal reads when a command fails, and its exit code: the command line's one map from errors to words. */
import { CommanderError } from 'commander';
import type { NativeErrorCode } from '../engine/binding.js';
import { EngineError, nativeErrorCode } from '../engine/native-errors.js';
import { VerbatimError, type ErrorCode } from '../errors.js';
import { UsageError } from '../service/variables.js';

export const DONE = 0;
export const FAILED = 1;
export const WRONG_USAGE = 2;

export interface Failure {
  /** null: it is told already. */
  message: string | null;
  exitCode: number;
}

/** What went wrong with a file that the command line named. */
export class FileError extends Error {
  override readonly name = 'FileError';
  constructor(
    readonly path: string,
    cause: unknown,
  ) {
    super(messageOf(cause), { cause });
  }
}

export function failureOf(error: unknown): Failure {
  if (error instanceof CommanderError) {
    return { message: null, exitCode: error.exitCode === 0 ? DONE : WRONG_USAGE };
  }
  if (error instanceof UsageError) return { message: error.message, exitCode: WRONG_USAGE };
  if (error instanceof VerbatimError) return ofContract(error);
  if (error instanceof FileError) return ofFile(error);
  return { message: ofEngine(error) ?? ofFileSystem(error) ?? messageOf(error), exitCode: FAILED };
}

const WRONG_OPTIONS: readonly ErrorCode[] = ['invalid_request', 'unsupported_language'];

/** The fields of a request are options here. */
const OPTIONS: Partial<Record<ErrorCode, string>> = {
  unsupported_language: '--language',
  unsupported_diarization: '--diarize',
};

/** Whoever runs the command may know what clients are not told of. */
function ofContract({ code, message, cause }: VerbatimError): Failure {
  const option = OPTIONS[code];
  const why = cause instanceof EngineError ? ` ${cause.message}` : '';
  return {
    message: (option === undefined ? message : `${option}: ${message}`) + why,
    exitCode: WRONG_OPTIONS.includes(code) ? WRONG_USAGE : FAILED,
  };
}

function ofFile({ path, cause }: FileError): Failure {
  if (cause instanceof VerbatimError) return ofContract(cause);
  const told = ofFileSystem(cause, path) ?? ofAudio(cause, path);
  return told === null ? failureOf(cause) : { message: told, exitCode: FAILED };
}

function ofAudio(error: unknown, path: string): string | null {
  const message = messageOf(error);
  switch (nativeErrorCode(error)) {
    case 'unsupported_audio_format':
      return `"${path}" is not audio that can be read: ${message}.`;
    case 'invalid_audio':
      return `"${path}" is damaged or holds no audio: ${message}.`;
    case 'io_error':
      return `"${path}" cannot be read: ${message}.`;
    default:
      return null;
  }
}

const ENGINE: Record<NativeErrorCode, (message: string) => string> = {
  unsupported_audio_format: (message) => message,
  invalid_audio: (message) => message,
  unsupported_language: (message) => message,
  invalid_model: (message) => `The model is broken: ${message}.`,
  device_unavailable: (message) => `The device cannot be used: ${message}.`,
  out_of_memory: (message) =>
    `There is not enough memory: ${message}. A smaller model or fewer slots (VERBATIM_SLOTS) need less.`,
  invalid_argument: (message) => message,
  aborted: () => 'Stopped.',
  io_error: (message) => `A file cannot be read: ${message}.`,
  internal_error: (message) => `The engine failed: ${message}. This is a bug.`,
};

function ofEngine(error: unknown): string | null {
  const code = nativeErrorCode(error);
  return code === null ? null : ENGINE[code](messageOf(error).replace(/\.$/, ''));
}

function ofFileSystem(error: unknown, named?: string): string | null {
  const { code, path = named } = (error ?? {}) as NodeJS.ErrnoException;
  if (path === undefined) return null;
  if (code === 'ENOENT') return `There is no file "${path}".`;
  if (code === 'EACCES' || code === 'EPERM') return `"${path}" may not be read: permission denied.`;
  if (code === 'EISDIR') return `"${path}" is a directory, where a file is asked for.`;
  return null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
