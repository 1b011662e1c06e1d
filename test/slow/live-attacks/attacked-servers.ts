/** Servers in processes of their own, whose live sessions are attacked. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startVerbatim } from '../../../bench/processes/verbatim-process.js';
import { builtMain } from '../built-main.js';

export interface AttackedServer {
  url: string;
  /** Of the attackers. */
  keys: readonly string[];
  /** Of another client. */
  otherKey: string;
  pid: number;
  stop(): Promise<void>;
}

/** As it is installed, with the model that ships. */
export async function startReal(settings: Readonly<Record<string, string>> = {}): Promise<AttackedServer> {
  const env = { VERBATIM_SLOTS: '1', VERBATIM_THREADS: '1', VERBATIM_AUTO_MODEL: 'off', ...settings };
  const server = await startVerbatim({ main: builtMain, env });
  const { url, keys, pid } = server;
  const [otherKey = '', ...attackers] = keys;
  return { url, keys: attackers, otherKey, pid, stop: () => server.stop() };
}

/** With an engine that has room for any number of sessions. */
export async function startQuick(): Promise<AttackedServer> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-quick-live-'));
  const script = join(__dirname, 'quick-live-server.ts');
  const child = spawn(process.execPath, ['--v8-pool-size=1', '--require', 'tsx/cjs', script, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url = '', key = '', otherKey = ''] = await servingLine(child);
  const stop = async (): Promise<void> => {
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
    rmSync(directory, { recursive: true, force: true });
  };
  return { url, keys: [key], otherKey, pid: child.pid ?? 0, stop };
}

async function servingLine({ stdout }: ChildProcess): Promise<string[]> {
  if (stdout === null) throw new Error('The server has no standard output.');
  for await (const line of createInterface(stdout)) {
    const words = line.split(' ');
    if (words[0] === 'serving') return words.slice(1);
  }
  throw new Error('The server ended before it served.');
}
