/**
 * Downloads that an operator starts on the dashboard. Each runs `models pull` in a separate process, so that checking,
 * unpacking and loading a model cannot delay requests or harm the server.
 */
import type { ChildProcess } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { VerbatimError } from '../errors.js';
import type { ModelStore, StoredModel } from '../models/model-store.js';
import { findModel, kindText, type Manifest, type ModelEntry } from '../models/manifest.js';
import { isInstalled, modelFiles, modelRoot, type StoreRoots } from '../models/store.js';
import { systemTimers, type Timers } from '../timers.js';
import type { Logger } from './log.js';
import { lastError, startOwnCommand } from './own-command.js';

const MOST_AT_ONCE = 2;
/** A download that does not stop in this time is killed. */
const STOP_MS = 10_000;

export interface ModelDownloadsOptions {
  /** Called each time it is needed, because imports and downloads change the result. */
  context: () => { roots: StoreRoots; manifest: Manifest };
  logger: Pick<Logger, 'info' | 'warn'>;
  timers?: Timers;
}

interface Download {
  child: ChildProcess;
  /** Bytes received, by file. */
  received: Map<string, number>;
  totals: Map<string, number>;
  error: () => string | null;
  isStopped: boolean;
  /** Resolves when the process has ended. */
  gone: Promise<void>;
}

export class ModelDownloads implements ModelStore {
  readonly #running = new Map<string, Download>();
  /** Why the last download failed, by model. */
  readonly #failed = new Map<string, string>();
  /** The last problem that was logged as a warning, by model. It is kept when the download is tried again. */
  readonly #warned = new Map<string, string>();
  readonly #timers: Timers;
  #isClosed = false;

  constructor(private readonly options: ModelDownloadsOptions) {
    this.#timers = options.timers ?? systemTimers;
  }

  list(): StoredModel[] {
    const { roots, manifest } = this.options.context();
    return manifest.models.map((entry) => this.#storedModel(entry, roots));
  }

  download(name: string): void {
    const { roots, manifest } = this.options.context();
    const entry = entryOf(manifest, name);
    const refuse = (message: string) => new VerbatimError('invalid_request', message);
    if (this.#isClosed) throw new VerbatimError('shutting_down', 'The server is shutting down.');
    if (isInstalled(roots, entry)) throw refuse(`The model "${name}" is installed already.`);
    if (!isDownloadable(entry))
      throw refuse(`The model "${name}" is bundled or imported: there is nothing to download.`);
    if (this.#running.has(name)) throw refuse(`The model "${name}" is being downloaded already.`);
    if (this.#running.size >= MOST_AT_ONCE) {
      const message = `${MOST_AT_ONCE} models are being downloaded: wait for one, or cancel one.`;
      throw new VerbatimError('rate_limited', message);
    }
    this.#begin(entry, roots);
  }

  cancel(name: string): boolean {
    const download = this.#running.get(name);
    if (download === undefined) return false;
    this.#stop(download);
    return true;
  }

  /**
   * Resolves when a running download of this model ends, successful or not. Resolves at once if none runs. `list()`
   * shows the result.
   */
  async ended(name: string): Promise<void> {
    await this.#running.get(name)?.gone;
  }

  /** Stops the running downloads. Later downloads resume from their part files. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const running = [...this.#running.values()];
    for (const download of running) this.#stop(download);
    await Promise.all(running.map(({ gone }) => gone));
  }

  #begin(entry: ModelEntry, roots: StoreRoots): void {
    const { name } = entry;
    // The environment contains no secret except the hub's token.
    const child = startOwnCommand(['models', 'pull', name, '--json'], { VERBATIM_MODELS_DIR: roots.modelsDir });
    const download: Download = {
      ...{ child, received: bytesHere(entry, roots), totals: new Map<string, number>() },
      ...{ error: lastError(child), isStopped: false, gone: Promise.resolve() },
    };
    if (child.stdout !== null) createInterface(child.stdout).on('line', (line) => readProgress(download, line));
    this.#running.set(name, download);
    this.#failed.delete(name);
    this.options.logger.info({ model: name }, 'a model is downloaded');
    download.gone = new Promise((resolve) => {
      // The process could not be started.
      child.on('error', () => {
        this.#end(name, download, null);
        resolve();
      });
      child.on('close', (code) => {
        this.#end(name, download, code);
        resolve();
      });
    });
  }

  #end(name: string, download: Download, code: number | null): void {
    if (this.#running.get(name) !== download) return;
    this.#running.delete(name);
    const { logger } = this.options;
    if (code === 0) {
      logger.info({ model: name }, 'a model was downloaded');
    } else if (!download.isStopped) {
      const problem = download.error() ?? 'The download broke off.';
      this.#failed.set(name, problem);
      const level = this.#warned.get(name) === problem ? 'info' : 'warn';
      this.#warned.set(name, problem);
      logger[level]({ model: name, problem }, 'a model could not be downloaded');
    }
  }

  #stop(download: Download): void {
    if (download.isStopped) return;
    download.isStopped = true;
    const { child } = download;
    child.kill('SIGTERM');
    const timer = this.#timers.after(STOP_MS, () => void child.kill('SIGKILL'));
    void download.gone.then(() => timer.cancel());
  }

  #storedModel(entry: ModelEntry, roots: StoreRoots): StoredModel {
    const { name, licence } = entry;
    const download = this.#running.get(name);
    const receivedBytes = sum((download?.received ?? bytesHere(entry, roots)).values());
    const totalBytes = totalOf(entry, download);
    const problem = this.#failed.get(name) ?? null;
    const about = { name, kind: kindText(entry), licence, receivedBytes, totalBytes };
    if (download !== undefined) {
      const isWhole = totalBytes !== null && receivedBytes >= totalBytes;
      return { ...about, state: isWhole ? 'checking' : 'downloading', problem: null };
    }
    if (isInstalled(roots, entry)) return { ...about, state: 'installed', problem: null };
    if (problem !== null) return { ...about, state: 'failed', problem };
    return { ...about, state: isDownloadable(entry) ? 'available' : 'unavailable', problem: null };
  }
}

function entryOf(manifest: Manifest, name: string): ModelEntry {
  try {
    return findModel(manifest, name);
  } catch (error) {
    throw new VerbatimError('invalid_request', (error as Error).message);
  }
}

function isDownloadable(entry: ModelEntry): boolean {
  return entry.bundled !== true && modelFiles(entry).every(({ url }) => url !== undefined);
}

/** The bytes on the disk for each file, complete or partial. */
function bytesHere(entry: ModelEntry, roots: StoreRoots): Map<string, number> {
  const root = modelRoot(roots, entry);
  const here = new Map<string, number>();
  for (const { file } of modelFiles(entry)) {
    const path = [join(root, file), join(root, `${file}.part`)].find((one) => existsSync(one));
    if (path !== undefined) here.set(file, statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  }
  return here;
}

/** The size in the manifest, or else the one that the download reports. */
function totalOf(entry: ModelEntry, download: Download | undefined): number | null {
  const totals = modelFiles(entry).map(({ file, size }) => size ?? download?.totals.get(file));
  return totals.includes(undefined) ? null : sum(totals.map((bytes) => bytes ?? 0));
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

function readProgress({ received, totals }: Download, line: string): void {
  const progress = progressIn(line);
  if (progress === null) return;
  received.set(progress.file, progress.received_bytes);
  if (progress.total_bytes !== null) totals.set(progress.file, progress.total_bytes);
}

interface ReportedProgress {
  file: string;
  received_bytes: number;
  total_bytes: number | null;
}

/** null: the line is not a progress report. */
function progressIn(line: string): ReportedProgress | null {
  try {
    const progress = JSON.parse(line) as Partial<ReportedProgress>;
    const { file, received_bytes, total_bytes = null } = progress;
    return file === undefined || received_bytes === undefined ? null : { file, received_bytes, total_bytes };
  } catch {
    return null;
  }
}
