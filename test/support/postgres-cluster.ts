/** A PostgreSQL of the tests' own: one cluster a run, on a free port, which dies with the run. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { until } from './until.js';
import { freePort } from '../../bench/processes/free-port.js';

/** Where Debian has the programs, by version. */
const DEBIAN = '/usr/lib/postgresql';
/** The server refuses to run as root. */
const USER = 'postgres';
/** In every URL, so that a test can look for it where it must not be. */
export const DATABASE_PASSWORD = 'a-password-that-nobody-may-see';

export interface ClusterOptions {
  /** Whether commits reach the disk. Default: no. */
  fsync?: boolean;
  /** PEM files that it offers TLS with. Default: it speaks in the clear only. */
  tls?: { certificate: string; key: string };
}

export class PostgresCluster {
  #server: ChildProcess | null = null;

  private constructor(
    readonly directory: string,
    readonly port: number,
    private readonly options: ClusterOptions,
  ) {}

  static async start(options: ClusterOptions = {}): Promise<PostgresCluster> {
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-postgres-'));
    chmodSync(directory, 0o755);
    const data = join(directory, 'data');
    mkdirSync(data);
    if (isRoot()) execFileSync('chown', [USER, data]);
    const initialise = ['-D', data, '-U', 'verbatim', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '-N'];
    const [program, ...rest] = [...asUser(), bin('initdb'), ...initialise];
    execFileSync(program!, rest, { stdio: 'pipe', cwd: '/' });
    const cluster = new PostgresCluster(directory, await freePort(), options);
    if (options.tls !== undefined) cluster.#keepTls(options.tls);
    process.once('exit', () => cluster.#remove());
    await cluster.run();
    return cluster;
  }

  /** Starts the server again, where it was. */
  async run(): Promise<void> {
    const settings = [
      ...['listen_addresses=127.0.0.1', `port=${this.port}`, 'unix_socket_directories=', 'max_connections=300'],
      ...['shared_buffers=64MB', `fsync=${this.options.fsync === true ? 'on' : 'off'}`, 'full_page_writes=off'],
      `ssl=${this.options.tls === undefined ? 'off' : 'on'}`,
    ].flatMap((setting) => ['-c', setting]);
    const [program, ...rest] = [...asUser(), bin('postgres'), '-D', join(this.directory, 'data'), ...settings];
    this.#server = spawn(program!, rest, { stdio: 'ignore', cwd: '/' });
    await until(() => this.answers());
  }

  async answers(): Promise<boolean> {
    try {
      await this.query('SELECT 1');
      return true;
    } catch {
      return false;
    }
  }

  /** As a power cut would end it, but that what was written is on the disk. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    const ended = once(server, 'close');
    server.kill('SIGQUIT'); // each of its processes ends at once; SIGKILL would leave them, and its memory, behind
    await ended;
    this.#server = null;
  }

  url(database: string, { port = this.port } = {}): string {
    return `postgres://verbatim:${DATABASE_PASSWORD}@127.0.0.1:${port}/${database}`;
  }

  async query<R>(sql: string, database = 'postgres'): Promise<R[]> {
    const client = new Client({ connectionString: this.url(database), options: '-c search_path=verbatim' });
    client.on('error', () => undefined);
    await client.connect();
    try {
      const results = [await client.query(sql)].flat();
      return (results.at(-1)?.rows ?? []) as R[];
    } finally {
      await client.end();
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Runs one of PostgreSQL's own programs; what it writes. */
  client(program: string, words: readonly string[]): string {
    return execFileSync(bin(program), words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  /** Where the server looks for them, its own alone. */
  #keepTls({ certificate, key }: { certificate: string; key: string }): void {
    const data = join(this.directory, 'data');
    copyFileSync(certificate, join(data, 'server.crt'));
    copyFileSync(key, join(data, 'server.key'));
    chmodSync(join(data, 'server.key'), 0o600);
    if (isRoot()) execFileSync('chown', [USER, join(data, 'server.crt'), join(data, 'server.key')]);
  }

  #remove(): void {
    this.#server?.kill('SIGQUIT');
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

let shared: Promise<PostgresCluster> | undefined;

/** The one that all tests of a run share; each has a database of its own there. */
export function sharedCluster(): Promise<PostgresCluster> {
  shared ??= PostgresCluster.start();
  return shared;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** What runs a program as a user that the server accepts, and ends it with this process. */
function asUser(): string[] {
  const who = isRoot() ? [`--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'] : [];
  return ['setpriv', ...who, '--pdeathsig', 'QUIT', '--'];
}

function bin(program: string): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(DEBIAN, version, 'bin', program)).find(existsSync);
  return found ?? program;
}
