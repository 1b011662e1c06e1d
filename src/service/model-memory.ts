/**
 * The memory that all models in memory share: speech models, the models of speakers and those of translation. It is
 * counted by the processes that hold them. Where it is short, what nobody uses is unloaded, least recently used first.
 */

/**
 * Most that the process of an engine was measured to take while it loads: its weights may be packed again before the
 * file's are let go. The rest is Node.js, the addon and what windows are computed in.
 */
const FILE_COPIES = 2;
const BESIDES_BYTES = 256 * 2 ** 20;

/** Bytes of memory that the process of a model's engine may take while it loads. */
export function bytesFor(fileBytes: number): number {
  return FILE_COPIES * fileBytes + BESIDES_BYTES;
}

/** The same of models in a process that is there. */
export function bytesInProcess(fileBytes: number): number {
  return FILE_COPIES * fileBytes;
}

/** Models that can be unloaded. */
export interface Unloadable {
  /** When they were used last, milliseconds since 1970. */
  readonly lastUsed: number;
  /** Nobody uses them, and they are loaded. */
  readonly isIdle: boolean;
  /** Bytes that unloading them is expected to free. */
  readonly bytes: number;
  unload(): Promise<void>;
}

export interface ModelMemoryOptions {
  /** Bytes; null: as many as there are. */
  limit: number | null;
  /** Bytes that the processes with models hold now. */
  used: () => number;
}

export class ModelMemory {
  readonly #unloadable = new Set<Unloadable>();

  constructor(private readonly options: ModelMemoryOptions) {}

  add(models: Unloadable): void {
    this.#unloadable.add(models);
  }

  delete(models: Unloadable): void {
    this.#unloadable.delete(models);
  }

  get limit(): number | null {
    return this.options.limit;
  }

  get used(): number {
    return this.options.used();
  }

  /** Bytes that unloading everything that is idle is expected to free. */
  get idleBytes(): number {
    return this.#idle().reduce((sum, models) => sum + models.bytes, 0);
  }

  async unloadIdle(): Promise<void> {
    for (const models of this.#idle()) await models.unload();
  }

  /** Whether there is room for so many bytes once everything that is idle is unloaded. */
  canFit(bytes: number): boolean {
    return this.#left() + this.idleBytes >= bytes;
  }

  /** Whether there would be room for so many bytes if nothing else were in use. */
  canEverFit(bytes: number): boolean {
    const all = [...this.#unloadable].reduce((sum, models) => sum + models.bytes, 0);
    return this.#left() + all >= bytes;
  }

  /** Unloads what it takes; resolves to whether there is room then. */
  async makeRoom(bytes: number): Promise<boolean> {
    for (;;) {
      if (this.#left() >= bytes) return true;
      const [oldest] = this.#idle().sort((one, other) => one.lastUsed - other.lastUsed);
      if (oldest === undefined) return false;
      await oldest.unload();
    }
  }

  #idle(): Unloadable[] {
    return [...this.#unloadable].filter(({ isIdle }) => isIdle);
  }

  #left(): number {
    const { limit, used } = this.options;
    return limit === null ? Infinity : limit - used();
  }
}
