/**
 * The measured speeds of published models, stored in the data directory. Each machine that shares the directory has its
 * own file.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, hostname } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from '../../make-directory.js';
import type { ModelSpeeds } from '../../models/automatic-model.js';
import type { Config } from '../config.js';

/** Everything that the speeds depend on, apart from the model. */
interface Machine {
  processor: string;
  cores: number;
  settings: Partial<Config>;
}

interface StoredSpeeds {
  machine: Machine;
  measuredAt: string;
  speeds: ModelSpeeds;
}

/** null: nothing was measured on this machine with these settings. */
export function readSpeeds(config: Config): ModelSpeeds | null {
  try {
    const { machine, speeds } = JSON.parse(readFileSync(speedPath(config), 'utf8')) as StoredSpeeds;
    return JSON.stringify(machine) === JSON.stringify(thisMachine(config)) ? speeds : null;
  } catch {
    return null;
  }
}

/** Written completely or not at all. */
export function writeSpeeds(config: Config, speeds: ModelSpeeds): void {
  const path = speedPath(config);
  const stored: StoredSpeeds = { machine: thisMachine(config), measuredAt: new Date().toISOString(), speeds };
  makeDirectory(config.dataDir);
  writeFileSync(`${path}.new`, `${JSON.stringify(stored, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}

/** For commands that only need the speeds once. If they cannot be stored, they are measured again next time. */
export function keepSpeeds(config: Config, speeds: ModelSpeeds): void {
  try {
    writeSpeeds(config, speeds);
  } catch {
    // This user may not write to the data directory.
  }
}

export function speedPath({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, `speed-${hostname().replace(/[^A-Za-z0-9]/g, '_')}.json`);
}

function thisMachine({ deviceSetting, slots, threads, accelerator, speechDecoder, compute, batch }: Config): Machine {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    settings: { deviceSetting, slots, threads, accelerator, speechDecoder, compute, batch },
  };
}
