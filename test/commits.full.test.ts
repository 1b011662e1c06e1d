/**
 * Every commit that a measured figure names is one that this tree comes from, so that it can be measured again. Needs
 * the repository with its history: it fails in an exported tree and in a shallow clone.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../src/package-root.js';

const ABBREVIATED = 7;
/** As git abbreviates a commit; with a letter and a digit, so that it is neither a number nor a word. */
const COMMIT = /\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7}\b/g;
/** Some commits have digits alone in their first seven characters: where the text says that it is a commit. */
const BY_COMMIT = /\b(?:at|by|and|beside|before) (\d{7})\b/g;

const markdownIn = (directory: string, name: RegExp): string[] =>
  readdirSync(join(packageRoot, directory))
    .filter((file) => name.test(file))
    .map((file) => join(directory, file));

const documents = [
  ...markdownIn('bench', /^RESULTS.*\.md$/),
  ...markdownIn('docs', /\.md$/),
  'README.md',
  'test/fixtures/machines.json',
];

function commitsIn(text: string): string[] {
  const named = [...text.matchAll(BY_COMMIT)].map(([, commit = '']) => commit);
  return [...(text.match(COMMIT) ?? []), ...named];
}

describe('The commits that documents name', () => {
  let ancestors: Set<string>;

  before(() => {
    const git = (...words: string[]): string => execFileSync('git', words, { cwd: packageRoot, encoding: 'utf8' });
    expect(git('rev-parse', '--is-shallow-repository').trim(), 'a clone without history').to.equal('false');
    const history = git('rev-list', 'HEAD').trim().split('\n');
    ancestors = new Set(history.map((commit) => commit.slice(0, ABBREVIATED)));
  });

  it('are found in a text, and nothing else', () => {
    const text = 'At 165f44b beside ee0e5e9; 1000000 runs, recorded by 4689457, SHA-256 4171db2d, defaced 25a0e2.';
    expect(commitsIn(text)).to.deep.equal(['165f44b', 'ee0e5e9', '4689457']);
  });

  for (const document of documents)
    it(`are ancestors of HEAD: ${document}`, () => {
      const named = commitsIn(readFileSync(join(packageRoot, document), 'utf8'));
      expect(named.filter((commit) => !ancestors.has(commit))).to.deep.equal([]);
    });

  it('are named by every page of results, and by the record of machines', () => {
    const nameless = documents
      .filter((document) => document.includes('RESULTS') || document.endsWith('.json'))
      .filter((document) => commitsIn(readFileSync(join(packageRoot, document), 'utf8')).length === 0);
    expect(nameless).to.deep.equal([]);
  });
});
