/** The message and exit code of a failed command. This is the command line's only mapping from errors to messages. */
import { CommanderError } from 'commander';
import type { NativeErrorCode } from '../engine/binding.js';
import { EngineError, nativeErrorCode } from '../engine/native-errors.js';
import { VerbatimError, type ErrorCode } from '../errors.js';
import { UsageError } from '../service/variables.js';

export const DONE = 0;
export const FAILED = 1;
export const WRONG_USAGE = 2;

export interface Failure {
  /** null: the error was already reported. */
  message: string | null;
  exitCode: number;
}

/** A problem with a file that the command line named. */
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
  const message =
    ofEngine(error) ?? ofListening(error) ?? ofDirectory(error) ?? ofFileSystem(error) ?? messageOf(error);
  return { message, exitCode: FAILED };
}

const WRONG_OPTIONS: readonly ErrorCode[] = ['invalid_request', 'unsupported_language'];

/** The command-line options for fields of a request. */
const OPTIONS: Partial<Record<ErrorCode, string>> = {
  unsupported_language: '--language',
  unsupported_diarization: '--diarize',
};

/** Includes the cause, which clients of the API do not see but the user of the command line may. */
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
  const message = ofFileSystem(cause, path) ?? ofAudio(cause, path);
  return message === null ? failureOf(cause) : { message, exitCode: FAILED };
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
  device_lost: (message) => `The device failed while it computed: ${message}. Start the command again.`,
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

/** The message if a server cannot listen at its address. */
function ofListening(error: unknown): string | null {
  const { code, syscall, address, port, hostname } = (error ?? {}) as NodeJS.ErrnoException & Partial<ListenDetails>;
  if (syscall === 'getaddrinfo') return `VERBATIM_HOST is "${hostname}", which is not a name or an address.`;
  if (syscall !== 'listen') return null;
  const where = `port ${port} of ${address}`;
  const others = 'of the agent check: VERBATIM_AGENT_PORT, of Wyoming: VERBATIM_WYOMING_PORT';
  const another = `set another in VERBATIM_PORT (${others}); 0 takes a free one`;
  if (code === 'EADDRINUSE') return `Another program already listens on ${where}. Stop it, or ${another}.`;
  if (code === 'EACCES')
    return `This user may not listen on ${where}: ports below 1024 need root. Run as root, or ${another}.`;
  if (code === 'EADDRNOTAVAIL')
    return `VERBATIM_HOST is "${address}", which is not an address of this machine; 0.0.0.0 takes all of them.`;
  return null;
}

interface ListenDetails {
  address: string;
  port: number;
  hostname: string;
}

const NOT_MADE: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  ENOENT: 'its file system does not allow new directories',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EEXIST: 'there is a file of that name',
  ENOTDIR: 'a part of the path is a file',
};

function ofDirectory(error: unknown): string | null {
  const { code = '', path, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  const why = NOT_MADE[code];
  if (syscall !== 'mkdir' || path === undefined || why === undefined) return null;
  return (
    `The directory "${path}" cannot be created: ${why}. Create it for the user who runs this, or name ` +
    'another: VERBATIM_DATA_DIR holds database, uploads and jobs, VERBATIM_MODELS_DIR the models.'
  );
}

function ofFileSystem(error: unknown, named?: string): string | null {
  const { code, path = named } = (error ?? {}) as NodeJS.ErrnoException;
  if (path === undefined) return null;
  if (code === 'ENOENT') return `There is no file "${path}".`;
  if (code === 'EACCES' || code === 'EPERM') return `"${path}" cannot be read: permission denied.`;
  if (code === 'EISDIR') return `"${path}" is a directory, not a file.`;
  return null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
