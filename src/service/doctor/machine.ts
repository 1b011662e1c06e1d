/** What the checks read of a machine. Tests give them a directory in place of `/`, and answers in place of programs. */
import { constants, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { EnvHttpProxyAgent, fetch } from 'undici';
import type { NativeBinding } from '../../engine/binding.js';
import { loadBindingOfAllDevices } from '../../engine/device-binding.js';
import { ffmpegVersion } from '../../engine/media/version.js';
import { freeMemory } from '../free-memory.js';

export interface Machine {
  nodeVersion: string;
  /** Cores that this process may use. */
  cores: number;
  /** A file of the kernel, by its absolute path. null: there is none, or it cannot be read. */
  read: (path: string) => string | null;
  /** Names in a directory; none where it cannot be read. */
  list: (path: string) => string[];
  /** In bytes. null: unknown. */
  freeMemory: () => number | null;
  /** On the file system that holds, or would hold, the path, in bytes. null: unknown. */
  freeDisk: (path: string) => number | null;
  /** Whether this user may write there, or may create the directory. */
  isWritable: (path: string) => Promise<boolean>;
  /** Throws an Error if the addon is not built or cannot be loaded. */
  addon: () => Pick<NativeBinding, 'build' | 'devices'>;
  /** null: it cannot be run. */
  ffmpegVersion: (program: string) => Promise<string | null>;
  /** The time that the server's answer gives. null: the answer gives none. Rejects where nothing answers. */
  timeOf: (url: string) => Promise<Date | null>;
  /** Whether a server could listen there. Otherwise the code of the error, such as EADDRINUSE. */
  canListen: (host: string, port: number) => Promise<true | string>;
  now: () => number;
}

const TIMEOUT_MS = 10_000;

/** `root`: stands for `/` in paths of the kernel. */
export function thisMachine(root = '/'): Machine {
  const read = (path: string): string | null => {
    try {
      return readFileSync(join(root, path), 'utf8');
    } catch {
      return null;
    }
  };
  return {
    nodeVersion: process.versions.node,
    cores: availableParallelism(),
    read,
    list: (path) => {
      try {
        return readdirSync(join(root, path));
      } catch {
        return [];
      }
    },
    freeMemory: () => freeMemory(read),
    freeDisk,
    isWritable,
    addon: () => loadBindingOfAllDevices(),
    ffmpegVersion,
    timeOf,
    canListen,
    now: Date.now,
  };
}

function freeDisk(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return dirname(path) === path ? null : freeDisk(dirname(path));
  }
}

async function isWritable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return isMissing && dirname(path) !== path && isWritable(dirname(path));
  }
}

async function timeOf(url: string): Promise<Date | null> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { method: 'HEAD', dispatcher: new EnvHttpProxyAgent(), signal });
  await response.body?.cancel();
  const date = response.headers.get('date');
  return date === null ? null : new Date(date);
}

function canListen(host: string, port: number): Promise<true | string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
