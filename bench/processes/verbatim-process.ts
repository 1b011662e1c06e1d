/** `verbatim serve` in a process of its own, on a fresh database and a free port, the way a user starts it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NODE_FLAGS } from '../../src/engine/process/child.js';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';
import { register } from '../../src/models/import.js';
import type { SpeechModelEntry } from '../../src/models/manifest.js';
import { verbatimTarget } from '../load/http-target.js';
import { MAIN, nodeWords } from './command-line.js';
import { stopProcess, type ServerUnderTest } from './server-under-test.js';

export interface VerbatimProcess extends ServerUnderTest {
  readonly url: string;
  readonly child: ChildProcess;
  /** Its data, its ledger (verbatim.db) among them. */
  readonly directory: string;
  /** Of an account each. */
  readonly keys: readonly string[];
}

export interface VerbatimOptions {
  /** VERBATIM_..., and what else its processes are to have. */
  env?: Readonly<Record<string, string>>;
  /** Modules that each of its processes requires before anything else. */
  preload?: readonly string[];
  /** A speech model's file, served although it is not installed. */
  modelFile?: string;
  /** Of it; default: a published Whisper model's. */
  modelTraits?: Pick<SpeechModelEntry, 'languages' | 'windows' | 'decoder'>;
  /** Entry point; default: of this very build. */
  main?: string;
  /** What each account has; default: eight that can pay for anything. */
  credits?: readonly number[];
  /** The log is written, and nobody sees it. */
  discardsLog?: boolean;
}

const CREDITS: readonly number[] = Array.from({ length: 8 }, () => 10_000_000);
/** As `npm start` and the `verbatim` command set them; see docs/tuning.md. */
export const ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };
const MODEL_FROM_FILE = 'from-file';

export async function startVerbatim(options: VerbatimOptions = {}): Promise<VerbatimProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
  const clean = (): void => rmSync(directory, { recursive: true, force: true });
  const database = join(directory, 'verbatim.db');
  const keys = await createKeys(database, options);
  const child = spawnServe(options, {
    VERBATIM_DATABASE: database,
    VERBATIM_DATA_DIR: directory,
    // A bench is many clients at one address.
    VERBATIM_MAX_CONNECTIONS_PER_ADDRESS: '100000',
    ...(options.modelFile === undefined ? {} : modelFromFile(directory, options.modelFile, options.modelTraits)),
  });
  try {
    const url = await listeningUrl(child);
    const stop = (): Promise<void> => stopProcess(child).then(clean);
    return { target: verbatimTarget(url, keys), url, keys, child, directory, pid: child.pid ?? 0, stop };
  } catch (error) {
    clean();
    throw error;
  }
}

function spawnServe(
  { env = {}, preload = [], main = MAIN, discardsLog = false }: VerbatimOptions,
  own: Readonly<Record<string, string>>,
): ChildProcess {
  // The pool of the parent is the parent's; serve sizes its own.
  const inherited = { ...process.env };
  delete inherited['UV_THREADPOOL_SIZE'];
  const nodeOptions = [inherited['NODE_OPTIONS'] ?? '', ...preload.map((file) => `--require "${file}"`)].join(' ');
  return spawn(process.execPath, [...NODE_FLAGS, ...nodeWords(main, ['serve'])], {
    env: {
      ...inherited,
      ...(preload.length === 0 ? {} : { NODE_OPTIONS: nodeOptions }),
      ...ALLOCATOR,
      VERBATIM_HOST: '127.0.0.1',
      VERBATIM_PORT: '0',
      VERBATIM_LOG_LEVEL: discardsLog ? 'info' : 'warn',
      ...own,
      ...env,
    },
    stdio: ['ignore', 'pipe', discardsLog ? 'ignore' : 'inherit'],
  });
}

async function createKeys(path: string, { credits = CREDITS }: VerbatimOptions): Promise<string[]> {
  const ledger = createLedger({ path });
  try {
    const keys: string[] = [];
    for (const [number, amount] of credits.entries()) {
      const { id: accountId } = await ledger.accounts.create({ email: `bench${number}@localhost` });
      await ledger.credits.grant({ accountId, amount });
      const { rawKey } = await ledger.keys.create({ accountId, name: 'bench', scopes: [] });
      keys.push(rawKey);
    }
    return keys;
  } finally {
    await ledger.close();
  }
}

/** A models directory that knows the file, without a copy of it. */
function modelFromFile(
  directory: string,
  path: string,
  traits: VerbatimOptions['modelTraits'] = { languages: 'whisper', windows: 'full' },
): Record<string, string> {
  const modelsDir = join(directory, 'models');
  const file = `ggml-${MODEL_FROM_FILE}.bin`;
  mkdirSync(modelsDir);
  symlinkSync(path, join(modelsDir, file));
  register(modelsDir, {
    ...{ name: MODEL_FROM_FILE, kind: 'speech', file, licence: 'unknown', source: path },
    ...traits,
  });
  return { VERBATIM_MODELS_DIR: modelsDir, VERBATIM_MODEL: MODEL_FROM_FILE };
}

async function listeningUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The server has no standard output.');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`verbatim serve stopped before it was ready (exit code ${child.exitCode}).`);
}
