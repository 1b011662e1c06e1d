/** The real service on a free port: real HTTP, real SQLite file, real upload directory. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VerbatimClient, type ClientOptions } from '../../src/client/index.js';
import type { Diarizer, SpeechEngine } from '../../src/engine/types.js';
import { VerbatimError } from '../../src/errors.js';
import { createLedger, openLedger, type LedgerOptions } from '../../src/ledger/sqlite/ledger.js';
import type { Account, IssuedKey, Ledger } from '../../src/ledger/types.js';
import { packageRoot } from '../../src/package-root.js';
import { readConfig } from '../../src/service/config.js';
import { createLogger } from '../../src/service/log.js';
import { settingsInForce } from '../../src/service/settings-in-force.js';
import { serverSettings } from '../../src/service/server-settings.js';
import { Metrics } from '../../src/http/metrics.js';
import type { ModelShelf } from '../../src/http/model-shelf.js';
import { startServer, type RunningServer, type ServerSettings } from '../../src/service/server.js';
import { fixedModel, type ServedEngines } from '../../src/service/served-engines.js';
import type { TextTranslator } from '../../src/transcription/language-support.js';
import { lendAlways } from '../../src/transcription/lent-engines.js';
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

export interface TestServerOptions<E extends SpeechEngine = FakeEngine> {
  engine?: E;
  translator?: TextTranslator;
  /** Whose `speech` is the engine: requests have theirs lent, models take turns. Default: `engine` and `translator` stay. */
  engines?: Pick<ServedEngines, 'lend' | 'models'>;
  /** Default: none. */
  diarizer?: Diarizer;
  settings?: Partial<ServerSettings>;
  /** Where `verbatim.db` lies or is made; removed with the server. */
  directory?: string;
  ledger?: Partial<LedgerOptions>;
  /** Default: books on SQLite, in `directory`. */
  books?: Ledger;
  /** Default: the engine's alone, and another that cannot be had. */
  shelf?: ModelShelf;
  /** Default: nobody is told how much this node is to get. */
  agentPort?: number;
  /** Default: the system's. */
  timers?: ManualTimers;
}

export class TestServer<E extends SpeechEngine = FakeEngine> {
  readonly logs: LogLine[] = [];
  readonly #clients: VerbatimClient[] = [];
  #accounts = 0;
  #running: RunningServer | undefined;

  private constructor(
    readonly directory: string,
    readonly ledger: Ledger,
    readonly engine: E,
    private readonly timers: ManualTimers | null,
  ) {}

  static async start<E extends SpeechEngine = FakeEngine>(
    options: TestServerOptions<E> = {},
  ): Promise<TestServer<E>> {
    const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'verbatim-test-'));
    const timers = options.timers ?? systemTimers;
    const ledger =
      options.books ??
      createLedger({ path: join(directory, 'verbatim.db'), secret: SECRET, timers, ...options.ledger });
    const engine = options.engine ?? (new FakeEngine() as SpeechEngine as E);
    const server = new TestServer(directory, ledger, engine, options.timers ?? null);
    server.#running = await startServer({
      host: '127.0.0.1',
      port: 0,
      agentPort: options.agentPort ?? null,
      version: '0.0.0-test',
      ledger,
      engine,
      installedModels: () => [engine.modelName, 'large-v3'],
      shelf: options.shelf ?? shelfOf(engine.modelName),
      settingsInForce: () => settingsInForce({}, readConfig({}, '/opt/verbatim')),
      lend: options.engines?.lend ?? lendAlways(engine, options.translator),
      models: options.engines?.models ?? fixedModel(engine.modelName),
      diarizer: options.diarizer ?? NO_DIARIZER,
      logger: createLogger({
        level: 'info',
        stream: { write: (line) => void server.logs.push(JSON.parse(line) as LogLine) },
      }),
      metrics: new Metrics(),
      timers,
      clock: options.ledger?.clock ?? Date.now,
      settings: { ...serverSettings(readConfig({}, packageRoot)), ...options.settings },
      uploadBase: directory,
      jobsDirectory: join(directory, 'jobs'),
    });
    return server;
  }

  get url(): string {
    return this.#running!.url;
  }

  get agentPort(): number | null {
    return this.#running!.agentPort;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async customer(credits = 100): Promise<Customer> {
    const account = await this.ledger.createAccount({ email: `customer${++this.#accounts}@example.com` });
    if (credits > 0) await this.ledger.grantCredits({ accountId: account.id, amount: credits });
    const key = await this.ledger.createKey({ accountId: account.id, name: 'plain', scopes: [] });
    const managementKey = await this.ledger.createKey({
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
    return (await this.ledger.balance(account.id)).balance;
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
      .flatMap((name) =>
        readdirSync(join(this.directory, name)).map((file) => join(this.directory, name, file)),
      );
  }

  /** Ids of the jobs whose audio lies on disk now. */
  jobFiles(): string[] {
    const jobs = join(this.directory, 'jobs');
    return existsSync(jobs) ? readdirSync(jobs) : [];
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
    await this.engine.close();
    await this.ledger.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export function bearer(key: { rawKey: string } | string): Record<string, string> {
  return { authorization: `Bearer ${typeof key === 'string' ? key : key.rawKey}` };
}

function shelfOf(modelName: string): ModelShelf {
  const about = {
    kind: 'speech',
    licence: 'MIT',
    receivedBytes: 1 << 20,
    totalBytes: 1 << 20,
    problem: null,
  };
  const refuse = (): never => {
    throw new VerbatimError('invalid_request', 'This shelf has nothing to download.');
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
