/** Memory, disks, permissions, and the programs that are called. */
import { dirname, resolve } from 'node:path';
import type { Config } from '../config.js';
import { missingFfmpegText } from '../missing-ffmpeg.js';
import { advice, ok, problem, type Finding } from './finding.js';
import type { Machine } from './machine.js';
import { gibibytes } from './processor.js';

/** Less than this, and uploads and jobs soon find no room. */
const LITTLE_DISK = 2 * 2 ** 30;

export function checkDirectories(machine: Machine, config: Config): Promise<Finding[]> {
  const directories = [
    { topic: 'data directory', path: config.dataDir, setting: 'VERBATIM_DATA_DIR', isNeeded: true },
    { topic: 'models directory', path: config.modelsDir, setting: 'VERBATIM_MODELS_DIR', isNeeded: false },
    ...(isFile(config.database) && dirname(resolve(config.database)) !== resolve(config.dataDir)
      ? [{ topic: 'database', path: dirname(config.database), setting: 'VERBATIM_DATABASE', isNeeded: true }]
      : []),
  ];
  return Promise.all(directories.map((directory) => checkDirectory(machine, directory)));
}

interface Directory {
  topic: string;
  path: string;
  setting: string;
  /** Whether the service does not start without it. */
  isNeeded: boolean;
}

async function checkDirectory(machine: Machine, { topic, path, setting, isNeeded }: Directory): Promise<Finding> {
  const place = resolve(path);
  if (!(await machine.isWritable(place))) {
    const found = `"${place}" cannot be written by this user`;
    const remedy = `Run this as the service's user, give that user the directory, or name another in ${setting}.`;
    return isNeeded ? problem(topic, found, remedy) : advice(topic, `${found}; no model can be downloaded`, remedy);
  }
  const free = machine.freeDisk(place);
  const found = `"${place}" can be written${free === null ? '' : `, ${gibibytes(free)} free`}`;
  if (free === null || free >= LITTLE_DISK) return ok(topic, found);
  return advice(topic, found, `Free some space, or name a directory on a larger disk in ${setting}.`);
}

export async function checkFfmpeg(machine: Machine, { ffmpeg }: Config): Promise<Finding> {
  const version = await machine.ffmpegVersion(ffmpeg);
  if (version !== null) return ok('ffmpeg', `${ffmpeg} ${version}`);
  return advice('ffmpeg', missingFfmpegText(ffmpeg), 'Install ffmpeg and util-linux, or set VERBATIM_FFMPEG.');
}

function isFile(database: string): boolean {
  return !/^postgres(ql)?:/.test(database);
}
