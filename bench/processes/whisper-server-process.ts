/** whisper.cpp's own server in a process of its own, on a free port. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { whisperServerTarget } from '../load/http-target.js';
import { stopProcess, type ServerUnderTest } from './server-under-test.js';

const START_LIMIT_MS = 120_000;

/** Greedy, with its fall-back over temperatures, as Verbatim decodes. */
export async function startWhisperServer(binary: string, modelPath: string, threads: number): Promise<ServerUnderTest> {
  const port = await freePort();
  const words = ['--host', '127.0.0.1', '--port', String(port), '-m', modelPath, '-t', String(threads)];
  const child = spawn(binary, [...words, '-l', 'auto', '-bs', '1', '-bo', '5'], { stdio: 'ignore' });
  const failed: Error[] = [];
  child.once('error', (error) => failed.push(error));
  const url = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + START_LIMIT_MS;
  while (!(await answers(url))) {
    const reason = failed[0]?.message ?? (child.exitCode === null ? null : `exit code ${child.exitCode}`);
    if (reason !== null) throw new Error(`${binary} did not start: ${reason}.`);
    if (performance.now() > deadline) {
      await stopProcess(child);
      throw new Error(`${binary} was not ready within ${START_LIMIT_MS / 1000} s.`);
    }
    await sleep(50);
  }
  return { target: whisperServerTarget(url), pid: child.pid ?? 0, stop: () => stopProcess(child) };
}

async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).text();
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
