/** The client as what is installed where the service is not. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { fakeAudio } from '../support/fake-engine.js';
import { TestServer } from '../support/server.js';

const run = promisify(execFile);
const root = join(__dirname, '..', '..');

interface Manifest {
  version: string;
  private?: boolean;
  main: string;
  types: string;
  exports: Record<string, string | Record<string, string>>;
  dependencies: Record<string, string>;
}

function manifestOf(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest;
}

/** A client in JavaScript as a user writes it, and one whose types are checked. */
const CALLER = `
import { VerbatimApiError, VerbatimClient } from '@verbatim/client';
const [, , baseUrl, apiKey, audio] = process.argv;
const client = new VerbatimClient({ baseUrl, apiKey });
const { text, credits_used: used } = await client.transcribe({ audio });
const failed = await client.revokeKey('key_unknown').catch((error) => error);
console.log(JSON.stringify({ text, used, isApiError: failed instanceof VerbatimApiError, code: failed.code }));
await client.close();
`;
const TYPED_CALLER = `
import { VerbatimClient, type Transcription } from '@verbatim/client';
const client = new VerbatimClient({ baseUrl: 'http://127.0.0.1', apiKey: 'vb_' });
export const answer: Promise<Transcription> = client.transcribe({ audio: 'a.wav', language: 'en' });
// @ts-expect-error a misspelt field is found by the compiler
export const wrong = client.transcribe({ audio: 'a.wav', langauge: 'en' });
`;

describe('The client as a package of its own', function () {
  this.timeout(180_000);
  let directory: string;
  let application: string;

  const npm = (cwd: string, ...words: string[]): Promise<unknown> =>
    // A cache of its own, which is empty: whatever is not here would have to come from the network, which is refused.
    run('npm', [...words, '--offline', '--cache', join(directory, 'cache'), '--no-audit', '--no-fund'], {
      cwd,
    });

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-client-'));
    application = join(directory, 'application');
    mkdirSync(application);
    await npm(join(root, 'src', 'client'), 'pack', '--pack-destination', directory);
    for (const name of Object.keys(manifestOf(join(root, 'src', 'client')).dependencies)) {
      // Not by "npm pack": npm 10 runs the scripts of a directory that it packs, whatever --ignore-scripts says.
      const tarball = join(directory, `${name}.tgz`);
      await run('tar', [
        '-czf',
        tarball,
        '--transform',
        's,^\\.,package,',
        '-C',
        join(root, 'node_modules', name),
        '.',
      ]);
    }
    writeFileSync(join(application, 'package.json'), '{"private": true, "type": "module"}');
    const tarballs = readdirSync(directory).filter((name) => name.endsWith('.tgz'));
    await npm(application, 'install', ...tarballs.map((name) => join(directory, name)));
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  it('brings its own code and the two packages it stands on, and nothing that is compiled', () => {
    const modules = join(application, 'node_modules');
    const installed = readdirSync(modules).filter((name) => !name.startsWith('.'));
    expect(installed).to.have.members(['@verbatim', 'eventsource-parser', 'undici']);
    expect(readdirSync(join(modules, '@verbatim'))).to.deep.equal(['client']);
    const client = join(modules, '@verbatim', 'client');
    expect(readdirSync(client)).to.have.members(['LICENSE', 'README.md', 'dist', 'package.json']);
    const files = readdirSync(modules, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => /\.node$|\.gyp$|(^|\/)build(\/|$)|node-gyp/.test(name))).to.deep.equal([]);
  });

  it('may be published: every file is code, a type or a text for its users, and nothing is missing', async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'], {
      cwd: join(root, 'src', 'client'),
    });
    const [packed] = JSON.parse(stdout) as { name: string; files: { path: string }[] }[];
    const files = packed?.files.map(({ path }) => path) ?? [];
    const other = files.filter((path) => !/^dist\/(browser\/)?[a-z-]+\.(js|d\.ts)$/.test(path));
    expect(other).to.have.members(['LICENSE', 'README.md', 'package.json']);
    const manifest = manifestOf(join(root, 'src', 'client'));
    const { main, types, exports, private: isPrivate } = manifest;
    expect([packed?.name, isPrivate]).to.deep.equal(['@verbatim/client', undefined]);
    const named = [main, types, ...Object.values(exports).flatMap((entry) => Object.values(entry))];
    for (const path of named.filter((name) => name.startsWith('./')))
      expect(files, path).to.include(path.replace('./', ''));
  });

  it('has the version of the service, and the packages that it is tested with', () => {
    const { version } = manifestOf(root);
    const tested = (name: string): string => manifestOf(join(root, 'node_modules', name)).version;
    const client = manifestOf(join(application, 'node_modules', '@verbatim', 'client'));
    expect(client.version).to.equal(version);
    expect(client.dependencies).to.deep.equal({
      'eventsource-parser': tested('eventsource-parser'),
      undici: tested('undici'),
    });
  });

  it('has modules for pages, which need nothing else', () => {
    const files = join(application, 'node_modules', '@verbatim', 'client', 'dist', 'browser');
    expect(readdirSync(files)).to.have.members(['browser.js', 'browser.d.ts', 'live.js', 'live.d.ts']);
    const imported = ['browser.js', 'live.js'].flatMap((file) =>
      [...readFileSync(join(files, file), 'utf8').matchAll(/ from '(.+)'/g)].map(([, name]) => name),
    );
    expect(new Set(imported)).to.deep.equal(new Set(['./live.js']));
  });

  it('talks to a server from there', async () => {
    const server = await TestServer.start();
    try {
      const { managementKey } = await server.customer(10);
      const audio = join(application, 'clip.wav');
      writeFileSync(audio, fakeAudio(3, { text: 'From far away.' }));
      writeFileSync(join(application, 'caller.js'), CALLER);
      const words = ['caller.js', server.url, managementKey.rawKey, audio];
      const { stdout } = await run(process.execPath, words, { cwd: application });
      const answer = { text: 'From far away.', used: 1, isApiError: true, code: 'key_not_found' };
      expect(JSON.parse(stdout)).to.deep.equal(answer);
    } finally {
      await server.dispose();
    }
  });

  it('has types, which a compiler finds', async () => {
    writeFileSync(join(application, 'typed.ts'), TYPED_CALLER);
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')];
    const words = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', ...types, 'typed.ts'];
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = await run(process.execPath, [tsc, ...words], { cwd: application });
    expect(stdout).to.equal('');
  });
});
