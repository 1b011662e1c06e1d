/** Many files through one engine side by side; what goes wrong with one is told, and the others go on. */
import { closeSync, fstatSync, openSync } from 'node:fs';
import type { ServiceContext } from '../service/context.js';
import { LocalTranscriber } from '../service/local-transcription.js';
import type { TranscriptionOptions } from '../transcription/options.js';
import { writeWhole } from './output-files.js';
import { printableLines } from './printable.js';
import { renderedTranscript } from './rendered-transcript.js';
import { TranscribeProgress, type FileSize } from './transcribe-progress.js';
import { failureOf, FileError } from './words.js';

export interface FileBatch {
  options: TranscriptionOptions;
  /** By file, where its text goes; null: standard output, at the end. */
  outputs: ReadonlyMap<string, string | null>;
  /** See renderedTranscript(). */
  showsDecoded: boolean;
}

/** The number of files that failed. Rejects with what LocalTranscriber.load() and check() throw; aborted, it leaves files out. */
export async function transcribeFiles(
  batch: FileBatch,
  context: ServiceContext,
  signal: AbortSignal,
): Promise<number> {
  const { readable, refusals } = readableFiles([...batch.outputs.keys()]);
  for (const message of refusals) console.error(message);
  if (readable.length === 0) return refusals.length;
  const transcriber = await LocalTranscriber.load(context);
  const run = new FileRun(batch, transcriber, readable, signal);
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
  private readonly progress: TranscribeProgress;
  private readonly printed: string[] = [];

  constructor(
    private readonly batch: FileBatch,
    private readonly transcriber: LocalTranscriber,
    sizes: readonly FileSize[],
    private readonly signal: AbortSignal,
  ) {
    this.progress = new TranscribeProgress(sizes);
  }

  async transcribe(path: string): Promise<void> {
    if (!this.signal.aborted) await this.write(path).catch((error: unknown) => this.fail(path, error));
    this.progress.done(path);
  }

  /** The line on the terminal goes before anything is printed there. */
  end(): void {
    this.progress.stop();
    for (const text of this.printed) process.stdout.write(text);
  }

  private fail(path: string, error: unknown): void {
    if (this.signal.aborted) return;
    this.failed++;
    this.progress.say(told(path, error, this.batch.outputs.size));
  }

  private async write(path: string): Promise<void> {
    const { progress, signal } = this;
    const { options, outputs, showsDecoded } = this.batch;
    const measured = (seconds: number): void => progress.measured(path, seconds);
    const transcribed = (seconds: number): void => progress.transcribed(path, seconds);
    const result = await this.transcriber.transcribe({ path, signal, measured, transcribed }, options);
    const text = await renderedTranscript(result, options.format, showsDecoded);
    const output = outputs.get(path) ?? null;
    if (output === null) this.printed.push(text);
    else await writeWhole(output, text);
    if (options.format === 'json') return;
    for (const { message } of result.warnings) {
      progress.say(outputs.size > 1 ? `"${path}": ${message}` : message);
    }
  }
}

/** Before a model is loaded, which may take a while. */
function readableFiles(paths: readonly string[]): { readable: FileSize[]; refusals: string[] } {
  const readable: FileSize[] = [];
  const refusals: string[] = [];
  for (const path of paths) {
    try {
      readable.push({ path, bytes: sizeOf(path) });
    } catch (error) {
      refusals.push(told(path, error, paths.length));
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

async function sideBySide<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}

/** Names the file where the message does not, and it could be another. */
function told(path: string, error: unknown, files: number): string {
  const message = failureOf(new FileError(path, error)).message ?? '';
  const isNamed = files === 1 || message.includes(`"${path}"`);
  return `verbatim: ${printableLines(isNamed ? message : `"${path}": ${message}`)}`;
}
