/** Servers to compare, each in a process of its own on a free port, with nothing left behind. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLedger } from '../ledger/ledger.js';
import { verbatimTarget, whisperServerTarget, type HttpTarget } from './http-target.js';

export interface ServerUnderTest {
  target: HttpTarget;
  pid: number;
  stop(): Promise<void>;
}

const START_LIMIT_MS = 120_000;
const CREDITS = 10_000_000;
const ACCOUNTS = 8;

/** `verbatim serve` of this very build, with accounts that can pay. */
export async function startVerbatim(env: Readonly<Record<string, string>>): Promise<ServerUnderTest> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
  const database = join(directory, 'verbatim.db');
  const keys = createKeys(database);
  const main = join(__dirname, '..', `main${extname(__filename)}`);
  const loader = extname(__filename) === '.ts' ? ['--import', 'tsx'] : [];
  // The pool of the parent is the parent's; serve sizes its own.
  const inherited = { ...process.env };
  delete inherited['UV_THREADPOOL_SIZE'];
  const child = spawn(process.execPath, [...loader, main, 'serve'], {
    env: {
      ...inherited,
      VERBATIM_HOST: '127.0.0.1',
      VERBATIM_PORT: '0',
      VERBATIM_DATABASE: database,
      VERBATIM_LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const clean = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    const target = verbatimTarget(await listeningUrl(child), keys);
    return { target, pid: child.pid ?? 0, stop: () => stopProcess(child).then(clean) };
  } catch (error) {
    clean();
    throw error;
  }
}

function createKeys(database: string): string[] {
  const ledger = createLedger({ path: database });
  try {
    return Array.from({ length: ACCOUNTS }, (_, number) => {
      const { id: accountId } = ledger.createAccount({ email: `bench${number}@localhost` });
      ledger.grantCredits({ accountId, amount: CREDITS });
      return ledger.createKey({ accountId, name: 'bench', scopes: [] }).rawKey;
    });
  } finally {
    ledger.close();
  }
}

async function listeningUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The server has no standard output.');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`verbatim serve stopped before it was ready (exit code ${child.exitCode}).`);
}

/** whisper.cpp's server: greedy, with its fall-back over temperatures, as Verbatim decodes. */
export async function startWhisperServer(
  binary: string,
  modelPath: string,
  threads: number,
): Promise<ServerUnderTest> {
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

/** whisper-server ends what it is at before it ends; nobody waits for that. */
async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exited;
  clearTimeout(timer);
}
