/** The commands in messages, which are not the same in a checkout and in a package. */
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandOf, ownCommand, packageRoot } from '../../src/package-root.js';

describe('The command that messages name', () => {
  it("is npm's in a checkout, and its own where the package brings its own Node", () => {
    const root = mkdtempSync(join(tmpdir(), 'verbatim-root-'));
    try {
      expect(commandOf(root)).to.equal('npx verbatim');
      mkdirSync(join(root, 'bin'));
      writeFileSync(join(root, 'bin', 'node'), '');
      expect(commandOf(root)).to.equal('verbatim');
    } finally {
      rmSync(root, { recursive: true });
    }
    expect(ownCommand).to.equal('npx verbatim');
    // As the package is staged.
    expect(readFileSync(join(packageRoot, 'packaging', 'deb', 'build'), 'utf8')).to.include('"$tree/bin/node"');
  });

  it('is written out nowhere else', () => {
    const source = join(packageRoot, 'src');
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.startsWith('client/') && name !== 'package-root.ts',
    );
    const printed = files.filter((name) =>
      readFileSync(join(source, name), 'utf8')
        .split('\n')
        .some((line) => line.includes('npx verbatim') && !/^\s*(\*|\/\*\*|\/\/)/.test(line)),
    );
    expect(printed).to.deep.equal([]);
  });
});
