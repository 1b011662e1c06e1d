/**
 * The TypeScript of documents, run as it is printed against the service as it starts; their JSON and Python, parsed.
 * Python is not run: the package `requests` and OpenAI's SDK are no part of this project.
 */
import { expect } from 'chai';
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/package-root.js';
import { verbatim } from '../support/built.js';
import { Served } from '../support/served.js';

const DOCUMENTS = ['docs/api.md', 'docs/clients.md', 'src/client/README.md'];

function blocksOf(document: string, language: string): string[] {
  const text = readFileSync(join(packageRoot, document), 'utf8');
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(([, block = '']) => block);
}

/** What an earlier block of the page has made. */
const PRELUDE = `import { VerbatimClient } from '@verbatim/client';
const client = new VerbatimClient({ baseUrl: 'http://127.0.0.1:8080', apiKey: process.env.KEY! });
`;

function program(block: string, url: string): string {
  const isWhole = !/\bclient\./.test(block) || /\bconst client\b/.test(block);
  return `${isWhole ? '' : PRELUDE}${block}`.replaceAll('http://127.0.0.1:8080', url);
}

describe('The code of', function () {
  this.timeout(120_000);
  let served: Served;
  let environment: NodeJS.ProcessEnv;

  before(async () => {
    served = await Served.start().listening();
    const { directory } = served;
    for (const name of ['node_modules', 'models']) symlinkSync(join(packageRoot, name), join(directory, name));
    writeFileSync(join(directory, 'package.json'), '{"type": "module"}');
    const talk = join(packageRoot, 'test', 'fixtures', 'audio', 'formats', 'es-08-vbr.mp3');
    for (const name of ['talk.mp3', 'meeting.mp3', 'recording.mp3']) copyFileSync(talk, join(directory, name));
    execFileSync('ffmpeg', ['-v', 'error', '-i', talk, '-f', 's16le', '-ar', '16000', '-ac', '1', 'speech.pcm'], {
      cwd: directory,
    });
    const keyOf = (scope: string): string => {
      const words = ['keys', 'create', '--account', 'local@localhost', '--name', scope, '--scope', scope];
      const made = execFileSync(process.execPath, verbatim(...words), { cwd: directory, encoding: 'utf8' });
      return /(vb_\S+)/.exec(made)?.[1] ?? '';
    };
    const keys = { KEY: await served.key(), ADMIN: keyOf('admin'), MANAGEMENT_KEY: keyOf('keys:write') };
    environment = { ...process.env, ...keys };
  });
  after(() => served.stop());

  for (const document of DOCUMENTS) {
    blocksOf(document, 'ts').forEach((block, index) => {
      it(`${document} runs: ${block.trim().split('\n').at(-1) ?? ''}`, async () => {
        const file = join(served.directory, `${document.replaceAll('/', '-')}-${index}.mts`);
        writeFileSync(file, program(block, served.url));
        const words = ['--import', 'tsx', file];
        await promisify(execFile)(process.execPath, words, { cwd: served.directory, env: environment });
      });
    });

    it(`${document} is JSON where it says so, and Python that parses`, () => {
      for (const block of blocksOf(document, 'json')) expect(() => JSON.parse(block) as unknown).not.to.throw();
      for (const input of blocksOf(document, 'python'))
        execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input });
    });
  }
});
