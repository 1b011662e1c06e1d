/**
 * Every block of code in the documents is run by a test, or read by the program that it is for, or says why it is not
 * run. Here are the blocks of shell, which the command line's own parser reads, and the rule itself.
 */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { packageRoot } from '../../src/package-root.js';
import { readConfig } from '../../src/service/config.js';
import { blocksOf, documents, type Block } from '../support/documents/blocks.js';
import { parseCommand } from '../support/documents/command-line.js';
import { callsOf, type ShellCall } from '../support/documents/dry-shell.js';

/** Tests that run the blocks of these languages in these documents, in order, against a service. */
const RUN: Readonly<Record<string, readonly string[]>> = {
  'test/service/curl-lines.full.test.ts': ['README.md curl', 'docs/api.md curl', 'docs/clients.md curl'],
  'test/documents/code-blocks.full.test.ts': ['docs/api.md ts', 'docs/clients.md ts', 'src/client/README.md ts'],
  'test/documents/pages.full.test.ts': [
    ...['docs/tutorial.md sh', 'docs/tutorial.md curl', 'docs/tutorial.md js'],
    ...['docs/library.md curl', 'docs/live.md js'],
  ],
  'test/documents/https.full.test.ts': ['caddyfile', 'nginx', 'haproxy', 'ini'].map((one) => `docs/https.md ${one}`),
};
const isRun = (what: string): boolean => Object.values(RUN).flat().includes(what);

const title = ({ document, line, language }: Block): string => `${document}, line ${line}: ${language || 'plain'}`;

const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

const isOurs = ({ program, words: [first = ''] }: ShellCall): boolean =>
  program === 'verbatim' ||
  (program === 'npx' && first === 'verbatim') ||
  (program === 'npm' && /^(start|run)$/.test(first));

async function check({ program, words, variables }: ShellCall, document: string): Promise<void> {
  readConfig(
    { VERBATIM_WYOMING_KEY: variables['VERBATIM_WYOMING_PORT'] === undefined ? '' : 'key', ...variables },
    '/',
  );
  if (program === 'npx' && words[0] === 'verbatim') return parseCommand(words.slice(1));
  if (program === 'verbatim') return parseCommand(words);
  if (program === 'npm' && words[0] === 'start')
    return parseCommand(['serve', ...words.slice(words[1] === '--' ? 2 : 1)]);
  if (program === 'npm' && words[0] === 'test') return;
  // test/client/package.test.ts packs and installs the client.
  if (program === 'npm' && /verbatim.client/.test(words.at(-1) ?? '')) return;
  if (program === 'npm' && words[0] === 'run') return void expect(scripts).to.have.property(words[1]!);
  if (program === 'curl' && isRun(`${document} curl`)) return;
  if (isRun(`${document} sh`)) return;
  throw new Error(`No test runs or reads "${[program, ...words].join(' ')}": mark the block <!-- not run: why -->.`);
}

describe('A block of code in a document', () => {
  const blocks = documents().flatMap((document) => blocksOf(document));
  const tried = blocks.filter(({ notRun }) => notRun === null);

  for (const block of tried.filter(({ language }) => language === 'sh'))
    it(`is what the programs take: ${title(block)}`, async () => {
      const calls = callsOf(block.code);
      for (const call of calls) await check(call, block.document);
    });

  for (const block of blocks.filter(({ language, notRun }) => language === 'sh' && notRun !== null))
    it(`names commands and settings that there are, though it is not run: ${title(block)}`, async () => {
      for (const call of callsOf(block.code, { skipsOthers: true }))
        if (isOurs(call)) await check(call, block.document);
    });

  for (const block of tried.filter(({ language }) => ['json', 'yaml', 'python'].includes(language)))
    it(`is well-formed: ${title(block)}`, () => {
      if (block.language === 'json') JSON.parse(block.code);
      if (block.language === 'yaml') parseYaml(block.code);
      if (block.language === 'python')
        execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: block.code });
    });

  it('is otherwise run by a test, or says why not; `text` is an output or a drawing', () => {
    const known = ['text', 'sh', 'json', 'yaml', 'python'];
    const others = tried.filter(({ language }) => !known.includes(language));
    expect(others.filter((block) => !isRun(`${block.document} ${block.language}`)).map(title)).to.deep.equal([]);
    for (const test of Object.keys(RUN)) expect(existsSync(join(packageRoot, test)), test).to.equal(true);
  });

  it('is found with its mark and the file that it is saved as', () => {
    const text = 'Save this as `a.mjs`:\n\n```js\nx;\n```\n\n- b\n\n  <!-- not run: why -->\n\n  ```sh\n  y\n  ```\n';
    const [first, second] = blocksOf('page.md', text);
    expect(first).to.include({ language: 'js', code: 'x;', notRun: null, file: 'a.mjs', line: 3 });
    expect(second).to.include({ language: 'sh', code: 'y', notRun: 'why', file: null });
  });

  it('is refused where no program takes it', async () => {
    const refusal = async (code: string): Promise<string> => {
      try {
        for (const call of callsOf(code)) await check(call, 'page.md');
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(await refusal('npx verbatim models list --all')).to.equal('');
    expect(await refusal('npx verbatim models lsit')).to.contain('unknown command');
    expect(await refusal('npx verbatim models list --everything')).to.contain('unknown option');
    expect(await refusal('npx verbatim keys create --account a@b.c')).to.contain('--name');
    expect(await refusal('npm run nothing')).to.contain('nothing');
    expect(await refusal('VERBATIM_SLOTS=many npm start')).to.contain('VERBATIM_SLOTS is "many"');
    expect(await refusal('podman run verbatim')).to.contain('podman');
    expect(await refusal('curl http://127.0.0.1:8080')).to.contain('No test runs or reads');
    expect(await refusal('npm start -- --port')).to.contain('--port');
  });
});
