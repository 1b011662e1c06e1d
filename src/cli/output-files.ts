/**
 * Where a command writes its texts: to one file, or to a directory with one file for each input. A text is written
 * completely or not at all.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, realpathSync, rmSync, statSync, type Stats } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { makeDirectory, SHARED } from '../make-directory.js';
import { UsageError } from '../service/variables.js';
import { EXTENSIONS, type FileFormat } from './rendered-transcript.js';
import { STANDARD_INPUT } from './standard-input.js';

export interface Destination {
  /** The value of --output. */
  file?: string | undefined;
  /** The value of --output-dir. A missing directory is created. */
  directory?: string | undefined;
  /** Each input is written once in each format. --output and standard output take one format. */
  formats: readonly FileFormat[];
}

export interface Output {
  format: FileFormat;
  /** null: standard output. */
  path: string | null;
}

/**
 * The outputs of each input. Throws UsageError if options conflict, or if an input or another output would be
 * overwritten. Throws an Error that names the place if it is not writable.
 */
export function outputsOf(inputs: readonly string[], destination: Destination): Map<string, Output[]> {
  const { file, directory, formats } = destination;
  if (file !== undefined && directory !== undefined) {
    throw new UsageError('--output cannot be used with --output-dir.');
  }
  if (inputs.length > 1 && directory === undefined) {
    throw new UsageError('Several files need --output-dir, a directory for their texts.');
  }
  if (directory === undefined && formats.length > 1) {
    throw new UsageError('Several formats need --output-dir, a directory for their files.');
  }
  const outputs = inputs.map((input): InputOutputs => [input, formats.map((format) => outputOf(input, format))]);
  checkPlaces(outputs);
  return new Map(outputs);

  function outputOf(input: string, format: FileFormat): Output {
    const path = directory === undefined ? (file ?? null) : join(directory, nameOf(input) + EXTENSIONS[format]);
    return { format, path };
  }

  function checkPlaces(outputs: readonly InputOutputs[]): void {
    const inputOf = new Map<string, string>();
    for (const [input, path] of placesOf(outputs)) {
      const other = inputOf.get(path);
      if (other !== undefined) throw new UsageError(`"${other}" and "${input}" would both be written to "${path}".`);
      refuseSame(input, path);
      inputOf.set(path, input);
    }
    if (directory !== undefined) makeOutputDirectory(directory);
    for (const path of inputOf.keys()) checkWritable(path);
  }
}

type InputOutputs = [input: string, outputs: Output[]];

/** Each input, paired with the path of each of its output files. */
function placesOf(outputs: readonly InputOutputs[]): [input: string, path: string][] {
  return outputs.flatMap(([input, files]) =>
    files.flatMap(({ path }): [string, string][] => (path === null ? [] : [[input, path]])),
  );
}

/** The name without its extension. */
function nameOf(input: string): string {
  return input === STANDARD_INPUT ? 'stdin' : basename(input, extname(input));
}

/** Writes a temporary file beside `path`, then renames it. Rejects with an Error that names the path. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const part = partOf(path);
  try {
    await writeFile(part, text, { flag: 'wx' });
    await rename(part, targetOf(path));
  } catch (error) {
    await rm(part, { force: true });
    throw unwritable(path, error);
  }
}

function partOf(path: string): string {
  return `${targetOf(path)}.${randomBytes(4).toString('hex')}.part`;
}

/** The file that a symbolic link points to. The link itself is kept. */
function targetOf(path: string): string {
  return realPath(path) ?? path;
}

function refuseSame(input: string, output: string): void {
  const [one, other] = [input === STANDARD_INPUT ? null : realPath(input), realPath(output)];
  if (one !== null && one === other) throw new UsageError(`"${output}" is the input file itself.`);
}

function makeOutputDirectory(path: string): void {
  const stats = statsOf(path);
  if (stats !== null && !stats.isDirectory()) throw new UsageError(`--output-dir: "${path}" is not a directory.`);
  try {
    makeDirectory(path, SHARED);
  } catch (error) {
    throw unwritable(path, error);
  }
}

function checkWritable(path: string): void {
  const stats = statsOf(path);
  if (stats?.isDirectory() === true) throw new UsageError(`--output: "${path}" is a directory.`);
  if (stats !== null && !stats.isFile()) throw new UsageError(`--output: "${path}" is not a file.`);
  try {
    const part = partOf(path);
    closeSync(openSync(part, 'wx'));
    rmSync(part);
  } catch (error) {
    throw unwritable(path, error);
  }
}

function unwritable(path: string, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason: Partial<Record<string, string>> = {
    ENOENT: `there is no directory "${dirname(path)}"`,
    ENOTDIR: `"${dirname(path)}" is not a directory`,
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'the file system is read-only',
  };
  return new Error(`"${path}" cannot be written: ${reason[code ?? ''] ?? message}.`, { cause: error });
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function statsOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
