/**
 * The container image of packaging/container/Containerfile, built by buildah and started as its configuration says. The
 * base is a Debian that mmdebstrap makes of the mirror, in place of the registry's. As root.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';
import { descendantsOf } from '../support/child-processes.js';
import { sample } from '../support/speech.js';
import { until } from '../support/until.js';
import { CERTIFICATES, CleanRoot } from './clean-root.js';

const RELEASE = 'bookworm';
const BASE = 'localhost/verbatim-test-base';
const IMAGE = 'localhost/verbatim-test';
/** Needs no container runtime, only root. */
const ISOLATED = ['--isolation', 'chroot'];

interface ImageConfig {
  User: string;
  Entrypoint: string[];
  Cmd: string[];
  Env: string[];
  Volumes: Record<string, unknown>;
  StopSignal: string;
  Healthcheck: { Test: string[] };
}

function buildah(...words: string[]): string {
  return execFileSync('buildah', words, {
    ...{ cwd: packageRoot, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] },
  }).trim();
}

/** How this machine reaches mirrors and registries goes into the base: the Containerfile says nothing of it. */
function makeBase(): void {
  const root = CleanRoot.make(RELEASE);
  try {
    const container = buildah('from', 'scratch');
    buildah('add', '--quiet', container, root.path, '/');
    buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, container);
    const registry = process.env['npm_config_registry'];
    if (registry !== undefined) buildah('config', '--env', `npm_config_registry=${registry}`, container);
    buildah('commit', '--quiet', '--rm', container, BASE);
  } finally {
    root.dispose();
  }
}

/** A signal to buildah itself would not reach the server: buildah ends, and its container's processes are killed. */
function serverOf(buildahRun: ChildProcess): number {
  const server = descendantsOf(buildahRun.pid).find(({ command }) => /main\.js serve/.test(command));
  if (server === undefined) throw new Error('No server runs in the container.');
  return server.pid;
}

describe('the container image', function () {
  this.timeout(3 * 3600_000);
  let container: string;
  let config: ImageConfig;

  before(() => {
    makeBase();
    const file = 'packaging/container/Containerfile';
    const network = ['--network', 'host', '--http-proxy'];
    buildah(
      'build',
      '--format',
      'docker',
      ...ISOLATED,
      ...network,
      '--build-arg',
      `BASE=${BASE}`,
      '-f',
      file,
      '-t',
      IMAGE,
      '.',
    );
    container = buildah('from', '--pull-never', IMAGE);
    const inspected = JSON.parse(buildah('inspect', '--type', 'image', IMAGE)) as { Docker: { config: ImageConfig } };
    ({ config } = inspected.Docker);
  });
  after(() => {
    buildah('rm', container);
    buildah('rmi', IMAGE, BASE);
  });

  /** As the image's user, in its working directory. */
  function inside(...words: string[]): string[] {
    return ['run', ...ISOLATED, '--network', 'host', '--user', config.User, container, '--', ...words];
  }

  async function start(): Promise<{ service: ChildProcess; url: string; key: string }> {
    buildah('config', '--env', 'VERBATIM_PORT=0', container);
    const service = spawn('buildah', inside(...config.Entrypoint, ...config.Cmd), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    service.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await until(() => {
      expect(service.exitCode, output).to.equal(null);
      return output.includes('API key');
    });
    const [, port] = /^listening on \S+:(\d+)$/m.exec(output) ?? [];
    const [, key] = /API key +(\S+)/.exec(output) ?? [];
    return { service, url: `http://127.0.0.1:${port}`, key: key! };
  }

  it('runs as a user of its own, keeps its data in a volume, and ends by SIGTERM', () => {
    expect(config).to.include({ User: '990:990', StopSignal: 'SIGTERM' });
    expect(Object.keys(config.Volumes)).to.deep.equal(['/var/lib/verbatim']);
    expect(buildah(...inside('stat', '-c', '%u:%g', '/var/lib/verbatim'))).to.equal('990:990');
  });

  it('serves, is found healthy, and ends in order', async () => {
    const { service, url, key } = await start();
    const form = new FormData();
    form.set('audio', new Blob([readFileSync(sample('en-wav16.wav').path)]), 'clip.wav');
    const answer = await fetch(`${url}/api/v1/transcribe`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${key}` }, body: form },
    });
    const body = (await answer.json()) as { text: string };
    expect(answer.status, JSON.stringify(body)).to.equal(200);
    expect(body.text).to.match(/\w+ \w+/);

    const [, ...check] = config.Healthcheck.Test;
    const port = `VERBATIM_PORT=${new URL(url).port}`;
    buildah(...inside('env', port, ...check));
    expect(() => buildah(...inside('env', 'VERBATIM_PORT=1', ...check))).to.throw();

    process.kill(serverOf(service), 'SIGTERM');
    expect(await once(service, 'exit')).to.deep.equal([0, null]);
  });
});
