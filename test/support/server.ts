/** The real service on a free port: real HTTP, real SQLite file, real upload directory. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VerbatimClient, type ClientOptions } from '../../src/client/index.js';
import { Backlog } from '../../src/engine/backlog.js';
import { loadBinding, type VoiceActivityModel } from '../../src/engine/binding.js';
import type { Diarizer, SpeechEngine } from '../../src/engine/types.js';
import { VerbatimError } from '../../src/errors.js';
import { createLedger, openLedger, type LedgerOptions } from '../../src/ledger/sqlite/ledger.js';
import type { Account, IssuedKey } from '../../src/ledger/types.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { packageRoot } from '../../src/package-root.js';
import { readConfig } from '../../src/service/config.js';
import { openingWith } from '../../src/service/live-audio.js';
import { createLogger } from '../../src/service/log.js';
import { settingsInForce } from '../../src/service/settings-in-force.js';
import { serverSettings } from '../../src/service/server-settings.js';
import { Metrics } from '../../src/http/monitoring/metrics.js';
import type { AutomaticModelState, MachineModel } from '../../src/models/automatic-model.js';
import type { ModelStore } from '../../src/models/model-store.js';
import { startServer, type RunningServer, type ServerSettings } from '../../src/service/server.js';
import type { ServedEngines } from '../../src/service/served-engines.js';
import { fixedModel } from './fixed-model.js';
import type { TextTranslator } from '../../src/transcription/language-support.js';
import { fixedEngines, type SpeechModelDirectory } from '../../src/transcription/engine-lease.js';
import { systemTimers } from '../../src/timers.js';
import { NO_DIARIZER } from './fake-diarizer.js';
import { FakeEngine } from './fake-engine.js';
import type { ManualTimers } from './manual-timers.js';

const SECRET = 'a secret for the tests';

export interface Customer {
  account: Account;
  /** A plain key. */
  key: IssuedKey;
  /** A key with the scope keys:write. */
  managementKey: IssuedKey;
}

export type LogLine = Record<string, unknown> & { requestId?: string };

/** What HTTP needs of an engine; requests acquire one. */
type ShownEngine = Pick<SpeechEngine, 'info' | 'stats'>;

export interface TestServerOptions<E extends ShownEngine = FakeEngine> {
  engine?: E;
  translator?: TextTranslator;
  /**
   * Whose `speech` is the engine: requests acquire theirs, models take turns. Default: `engine` and `translator` stay.
   */
  engines?: Pick<ServedEngines, 'acquire' | 'models' | 'backlog'> &
    Partial<Pick<ServedEngines, 'close' | 'installed' | 'memory'>>;
  /** Those that requests may name; default: the engine's alone. */
  speechModels?: SpeechModelDirectory;
  /** Default: none. */
  diarizer?: Diarizer;
  /** Finds the speech of live sessions; default: energy does. */
  voice?: VoiceActivityModel;
  settings?: Partial<ServerSettings>;
  /** Where `verbatim.db` lies or is made; removed with the server. */
  directory?: string;
  ledgerOptions?: Partial<LedgerOptions>;
  /** Default: a ledger on SQLite, in `directory`. */
  ledger?: Ledger;
  /** Default: the engine's alone, and another that cannot be had. */
  modelStore?: ModelStore;
  /** Default: none is looked for. */
  automaticModel?: () => AutomaticModelState | null;
  /** Default: no weight is announced for this node. */
  agentPort?: number;
  /** Default: the machine was not measured. */
  machineModel?: () => MachineModel | null;
  /** The key that Wyoming's port serves, once there is one; default: there is no such port. */
  wyoming?: (ledger: Ledger) => Promise<string>;
  /** Decodes live streams in containers; default: the one that is installed. */
  ffmpeg?: string;
  /** Default: the system's. */
  timers?: ManualTimers;
}

export class TestServer<E extends ShownEngine = FakeEngine> {
  readonly logs: LogLine[] = [];
  readonly #clients: VerbatimClient[] = [];
  #accounts = 0;
  #running: RunningServer | undefined;

  private constructor(
    readonly directory: string,
    readonly ledger: Ledger,
    readonly engine: E,
    /** What requests and jobs have it still to do. */
    readonly backlog: Backlog,
    private readonly timers: ManualTimers | null,
    private readonly closeEngines: () => Promise<void>,
  ) {}

  static async start<E extends ShownEngine = FakeEngine>(options: TestServerOptions<E> = {}): Promise<TestServer<E>> {
    const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'verbatim-test-'));
    const timers = options.timers ?? systemTimers;
    const ledger =
      options.ledger ??
      createLedger({ path: join(directory, 'verbatim.db'), secret: SECRET, timers, ...options.ledgerOptions });
    const engine = options.engine ?? (new FakeEngine() as ShownEngine as E);
    const backlog = options.engines?.backlog ?? backlogOf(engine);
    const closing = async (): Promise<void> => {
      if (options.engines?.close !== undefined) await options.engines.close();
      else if ('close' in engine) await (engine as ShownEngine as SpeechEngine).close();
    };
    const server = new TestServer(directory, ledger, engine, backlog, options.timers ?? null, closing);
    const speechModels = options.speechModels ?? options.engines?.installed;
    server.#running = await startServer({
      host: '127.0.0.1',
      port: 0,
      agentPort: options.agentPort ?? null,
      wyoming:
        options.wyoming === undefined ? null : { host: '127.0.0.1', port: 0, key: await options.wyoming(ledger) },
      version: '0.0.0-test',
      ledger,
      engine,
      backlog,
      modelStore: options.modelStore ?? modelStoreOf(engine.info.modelName),
      settingsInForce: () => settingsInForce({ env: {} }, readConfig({}, '/opt/verbatim')),
      acquire: options.engines?.acquire ?? fixedEngines(engine as ShownEngine as SpeechEngine, options.translator),
      ...(speechModels === undefined ? {} : { speechModels }),
      ...(options.engines?.memory === undefined ? {} : { modelMemory: options.engines.memory }),
      models: options.engines?.models ?? fixedModel(engine.info.modelName),
      ...(options.machineModel === undefined ? {} : { machineModel: options.machineModel }),
      ...(options.automaticModel === undefined ? {} : { automaticModel: options.automaticModel }),
      diarizer: options.diarizer ?? NO_DIARIZER,
      openLiveAudio: openingWith(loadBinding(), options.voice ?? null).open,
      ffmpeg: options.ffmpeg ?? 'ffmpeg',
      logger: createLogger({
        level: 'info',
        stream: { write: (line) => void server.logs.push(JSON.parse(line) as LogLine) },
      }),
      metrics: new Metrics(),
      timers,
      clock: options.ledgerOptions?.clock ?? Date.now,
      settings: { ...serverSettings(readConfig({}, packageRoot)), ...options.settings },
      uploadBase: directory,
      jobsDirectory: join(directory, 'jobs'),
      libraryDirectory: join(directory, 'library'),
    });
    return server;
  }

  get url(): string {
    return this.#running!.url;
  }

  get agentPort(): number | null {
    return this.#running!.agentPort;
  }

  get wyomingPort(): number {
    return this.#running!.wyomingPort!;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async customer(credits = 100): Promise<Customer> {
    const account = await this.ledger.accounts.create({ email: `customer${++this.#accounts}@example.com` });
    if (credits > 0) await this.ledger.credits.grant({ accountId: account.id, amount: credits });
    const key = await this.ledger.keys.create({ accountId: account.id, name: 'plain', scopes: [] });
    const managementKey = await this.ledger.keys.create({
      accountId: account.id,
      name: 'management',
      scopes: ['keys:write'],
    });
    return { account, key, managementKey };
  }

  client(key: { rawKey: string }, options: Partial<ClientOptions> = {}): VerbatimClient {
    const client = new VerbatimClient({ baseUrl: this.url, apiKey: key.rawKey, ...options });
    this.#clients.push(client);
    return client;
  }

  async balance({ account }: Customer): Promise<number> {
    return (await this.ledger.credits.balance(account.id)).balance;
  }

  /** Another process's view of the same database: the CLI's. */
  async asCli<T>(work: (ledger: Ledger) => Promise<T>): Promise<T> {
    const ledger = openLedger({ path: join(this.directory, 'verbatim.db'), secret: SECRET });
    try {
      return await work(ledger);
    } finally {
      await ledger.close();
    }
  }

  /** Paths of the uploads that lie on disk now. */
  uploads(): string[] {
    return readdirSync(this.directory)
      .filter((name) => name.startsWith('verbatim-upload-'))
      .flatMap((name) => readdirSync(join(this.directory, name)).map((file) => join(this.directory, name, file)));
  }

  /** Ids of the jobs whose audio lies on disk now. */
  jobFiles(): string[] {
    const jobs = join(this.directory, 'jobs');
    return existsSync(jobs) ? readdirSync(jobs) : [];
  }

  /** Ids of the transcripts whose recordings lie on disk now. */
  recordings(): string[] {
    const library = join(this.directory, 'library');
    return existsSync(library) ? readdirSync(library) : [];
  }

  close(drainMs = 0): Promise<void> {
    return this.#running!.close(drainMs);
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    // What a failed test left behind waits for time to pass.
    const passing = setInterval(() => this.timers?.pass(1000), 10);
    await this.close();
    clearInterval(passing);
    await this.closeEngines();
    await this.ledger.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export function bearer(key: { rawKey: string } | string): Record<string, string> {
  return { authorization: `Bearer ${typeof key === 'string' ? key : key.rawKey}` };
}

/** A fake engine has one that tests look into. */
function backlogOf(engine: ShownEngine): Backlog {
  if (engine instanceof FakeEngine) return engine.backlog;
  return new Backlog({ maxSeconds: 36_000, realTimeFactor: () => engine.stats().realTimeFactor });
}

function modelStoreOf(modelName: string): ModelStore {
  const about = {
    kind: 'speech',
    licence: 'MIT',
    receivedBytes: 1 << 20,
    totalBytes: 1 << 20,
    problem: null,
  };
  const refuse = (): never => {
    throw new VerbatimError('invalid_request', 'This modelStore has nothing to download.');
  };
  return {
    list: () => [
      { name: modelName, ...about, state: 'installed' },
      { name: 'large-v3', ...about, receivedBytes: 0, state: 'unavailable' },
    ],
    download: refuse,
    cancel: () => false,
  };
}
