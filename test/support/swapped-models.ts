/** A models directory with speech models that can take the bundled one's place, or only seem so. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { register } from '../../src/models/import.js';
import { MODEL } from '../native/support.js';
import { startEngineProcess, type EngineProcess } from './engine-process.js';
import { writeVoiceModel } from './voice-models.js';

const ORIGIN = { licence: 'MIT', source: 'test' };

export class SwappedModels {
  readonly directory = mkdtempSync(join(tmpdir(), 'verbatim-swap-'));
  readonly dataDir = join(this.directory, 'data');
  readonly #modelsDir = join(this.directory, 'models');

  constructor() {
    mkdirSync(this.dataDir);
    mkdirSync(this.#modelsDir);
    this.addCopy('mine');
    this.#register('missing');
    copyFileSync(MODEL, this.#file('cut'));
    truncateSync(this.#file('cut'), 2 ** 20);
    this.#register('cut');
  }

  /** The bundled model under another name. */
  addCopy(name: string): void {
    symlinkSync(MODEL, this.#file(name));
    this.#register(name);
  }

  removeCopy(name: string): void {
    rmSync(this.#file(name));
  }

  /** From now on engines start with a model of voice activity that detects nothing in anything. */
  deafen(): void {
    const path = join(this.#modelsDir, 'ggml-silero-vad.bin');
    writeVoiceModel(path, 'nothing');
    register(this.#modelsDir, { ...ORIGIN, name: 'silero-vad', kind: 'vad', file: 'ggml-silero-vad.bin' });
  }

  undeafen(): void {
    rmSync(join(this.#modelsDir, 'ggml-silero-vad.bin'));
  }

  get environment(): Record<string, string> {
    return { VERBATIM_MODELS_DIR: this.#modelsDir, VERBATIM_DATA_DIR: this.dataDir };
  }

  start(
    environment: Record<string, string> = {},
    options: Parameters<typeof startEngineProcess>[1] = {},
  ): Promise<EngineProcess> {
    return startEngineProcess({ ...this.environment, ...environment }, options);
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  #file(name: string): string {
    return join(this.#modelsDir, `ggml-${name}.bin`);
  }

  #register(name: string): void {
    const entry = { name, file: `ggml-${name}.bin`, languages: ['en', 'es', 'de', 'fr'], windows: 'short' };
    register(this.#modelsDir, { ...ORIGIN, ...entry, kind: 'speech' });
  }
}
