/** Transcribes several files side by side with one engine. A failure is reported, and the other files continue. */
import { closeSync, fstatSync, openSync } from 'node:fs';
import type { ServiceContext } from '../service/context.js';
import { LocalTranscriber, type LocalTranscription } from '../service/local-transcriber.js';
import type { TranscriptionOptions } from '../transcription/options.js';
import { lacksText } from '../transcription/warnings.js';
import { writeWhole, type Output } from './output-files.js';
import { printableLines } from './printable.js';
import { renderedTranscript } from './rendered-transcript.js';
import { STANDARD_INPUT, withStandardInput } from './standard-input.js';
import { chooseModel, type ChosenModel } from './transcribe-model.js';
import { TranscribeProgress, type FileSize } from './transcribe-progress.js';
import { failureOf, FileError } from './words.js';

export interface FileBatch {
  options: TranscriptionOptions;
  /** For each input, its outputs. Texts for standard output are printed at the end. */
  outputs: ReadonlyMap<string, readonly Output[]>;
  /** See renderedTranscript(). */
  showsDecoded: boolean;
  /** Where the summary says the texts are. null: on standard output. */
  writtenTo: string | null;
}

/**
 * Resolves to the number of files that failed. Rejects with what LocalTranscriber.load() and check() throw. After an
 * abort, the remaining files are skipped.
 */
export async function transcribeFiles(batch: FileBatch, context: ServiceContext, signal: AbortSignal): Promise<number> {
  if (!batch.outputs.has(STANDARD_INPUT)) return transcribeAll(batch, context, { signal, standardInput: null });
  return withStandardInput(signal, (standardInput) => transcribeAll(batch, context, { signal, standardInput }));
}

interface Source {
  signal: AbortSignal;
  /** The temporary file with the copy of standard input. */
  standardInput: string | null;
}

function pathOf(file: string, { standardInput }: Source): string {
  return file === STANDARD_INPUT && standardInput !== null ? standardInput : file;
}

async function transcribeAll(batch: FileBatch, context: ServiceContext, source: Source): Promise<number> {
  const { readable, refusals } = readableFiles([...batch.outputs.keys()], source);
  for (const message of refusals) console.error(message);
  if (readable.length === 0) return refusals.length;
  const { context: chosen, isUnannounced } = await chooseModel(context, source.signal);
  const transcriber = await LocalTranscriber.load(chosen);
  const run = new FileRun({ ...batch, isUnannounced }, transcriber, readable, source);
  try {
    transcriber.check(batch.options);
    await sideBySide(readable, transcriber.filesAtOnce, ({ path }) => run.transcribe(path));
  } finally {
    run.end();
    await transcriber.close();
  }
  return refusals.length + run.failed;
}

class FileRun {
  failed = 0;
  /** The warning about the demonstration model. Printed at the end if no earlier line had it. */
  private warning: string | null = null;
  private isWarned: boolean;
  private readonly progress: TranscribeProgress;
  private readonly printed: string[] = [];

  constructor(
    private readonly batch: FileBatch & Pick<ChosenModel, 'isUnannounced'>,
    private readonly transcriber: LocalTranscriber,
    sizes: readonly FileSize[],
    private readonly source: Source,
  ) {
    this.progress = new TranscribeProgress(sizes);
    this.isWarned = !batch.isUnannounced;
  }

  async transcribe(path: string): Promise<void> {
    if (!this.source.signal.aborted) await this.write(path).catch((error: unknown) => this.fail(path, error));
    this.progress.done(path);
  }

  /** Stops the progress line before the texts are printed. */
  end(): void {
    const { aborted } = this.source.signal;
    if (this.warning !== null && !this.isWarned && !aborted) this.progress.say(this.warning);
    this.progress.stop();
    for (const text of this.printed) process.stdout.write(text);
    if (!aborted) this.progress.summarize(this.failed, this.batch.writtenTo);
  }

  private fail(path: string, error: unknown): void {
    if (this.source.signal.aborted) return;
    this.failed++;
    this.progress.say(failureText(path, error, this.batch.outputs.size));
  }

  private async write(path: string): Promise<void> {
    const { progress, source } = this;
    const { signal } = source;
    const { options, outputs } = this.batch;
    const onMeasured = (seconds: number): void => progress.measured(path, seconds);
    const onProgress = (seconds: number): void => progress.transcribed(path, seconds);
    const result = await this.transcriber.transcribe(
      { path: pathOf(path, source), signal, onMeasured, onProgress },
      options,
    );
    const files = outputs.get(path) ?? [];
    for (const output of files) await this.writeOutput(output, result);
    if (!files.some(({ format }) => format === 'json')) this.warn(path, result);
  }

  /**
   * A warning about missing text is printed for each file. The demonstration model is mentioned once. JSON output has
   * both in itself.
   */
  private warn(path: string, { transcript, warnings }: LocalTranscription): void {
    this.warning ??= warnings[0]?.message ?? null;
    if (!lacksText(transcript)) return;
    for (const { message } of warnings)
      this.progress.say(this.batch.outputs.size > 1 ? `"${path}": ${message}` : message);
    this.isWarned ||= warnings.length > 0;
  }

  private async writeOutput({ format, path }: Output, result: LocalTranscription): Promise<void> {
    const text = await renderedTranscript(result, format, this.batch.showsDecoded);
    if (path === null) this.printed.push(text);
    else await writeWhole(path, text);
  }
}

/** Checks the files before the model is loaded, which may take a while. */
function readableFiles(paths: readonly string[], source: Source): { readable: FileSize[]; refusals: string[] } {
  const readable: FileSize[] = [];
  const refusals: string[] = [];
  for (const path of paths) {
    try {
      readable.push({ path, bytes: sizeOf(pathOf(path, source)) });
    } catch (error) {
      refusals.push(failureText(path, error, paths.length));
    }
  }
  return { readable, refusals };
}

function sizeOf(path: string): number {
  const file = openSync(path, 'r');
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
    return stats.size;
  } finally {
    closeSync(file);
  }
}

async function sideBySide<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}

/** Adds the file's name if the message lacks it and there are several files. */
function failureText(path: string, error: unknown, files: number): string {
  const name = path === STANDARD_INPUT ? 'standard input' : path;
  const message = failureOf(new FileError(name, error)).message ?? '';
  const isNamed = files === 1 || message.includes(`"${name}"`);
  return `verbatim: ${printableLines(isNamed ? message : `"${name}": ${message}`)}`;
}
