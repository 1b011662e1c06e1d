/**
 * The memory that all loaded models share: speech, speaker and translation models. It is counted by process. If memory
 * is short, unused models are unloaded, the least recently used first.
 */

/**
 * The most that an engine's process was measured to use while it loads: weights may be repacked before the copy from
 * the file is freed. BESIDES_BYTES is for Node.js, the addon and the buffers of windows.
 */
const FILE_COPIES = 2;
const BESIDES_BYTES = 256 * 2 ** 20;

/** Bytes of memory that the process of a model's engine may use while it loads. */
export function bytesFor(fileBytes: number): number {
  return FILE_COPIES * fileBytes + BESIDES_BYTES;
}

/** The same for a model that is loaded in a running process. */
export function bytesInProcess(fileBytes: number): number {
  return FILE_COPIES * fileBytes;
}

/** Models that can be unloaded. */
export interface Unloadable {
  /** When they were last used, in milliseconds since 1970. */
  readonly lastUsed: number;
  /** Whether they are loaded and nobody uses them. */
  readonly isIdle: boolean;
  /** Bytes that unloading them is expected to free. */
  readonly bytes: number;
  unload(): Promise<void>;
}

export interface ModelMemoryOptions {
  /** Bytes. null: no limit. */
  limit: number | null;
  /** Bytes that the processes with models use now. */
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

  /** Bytes that unloading all idle models is expected to free. */
  get idleBytes(): number {
    return this.#idle().reduce((sum, models) => sum + models.bytes, 0);
  }

  async unloadIdle(): Promise<void> {
    for (const models of this.#idle()) await models.unload();
  }

  /** Whether this many bytes are free after all idle models are unloaded. */
  canFit(bytes: number): boolean {
    return this.#left() + this.idleBytes >= bytes;
  }

  /** Whether this many bytes could be free if nobody used any model. */
  canEverFit(bytes: number): boolean {
    const all = [...this.#unloadable].reduce((sum, models) => sum + models.bytes, 0);
    return this.#left() + all >= bytes;
  }

  /** Unloads idle models until this many bytes are free. Resolves to whether they are. */
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
