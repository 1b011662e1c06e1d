/** The rule of lint that allows no circle of imports, on files that are made up. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { Linter, type Rule } from 'eslint';
import { parser } from 'typescript-eslint';

const RULE = pathToFileURL(join(__dirname, '..', 'lint', 'no-import-circle.mjs')).href;

describe('lint finds circles of imports', () => {
  let root: string;
  let rule: Rule.RuleModule;

  before(async () => {
    rule = ((await import(RULE)) as { default: Rule.RuleModule }).default;
  });
  beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'verbatim-circles-'))));
  afterEach(() => rmSync(root, { recursive: true }));

  /** Lints the first of the files. */
  function problems(files: Record<string, string>): string[] {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    }
    const [first, text] = Object.entries(files)[0]!;
    const found = new Linter({ cwd: root }).verify(
      text,
      {
        files: ['**/*.ts'],
        languageOptions: { parser },
        plugins: { own: { rules: { circle: rule } } },
        rules: { 'own/circle': 'error' },
      },
      join(root, first),
    );
    return found.map(({ message }) => message);
  }

  it('of types alone, by way of a third file in another folder', () => {
    const files = {
      'a.ts': "import type { B } from './b.js';\nexport type A = B;\n",
      'b.ts': "import type { C } from './deep/c.js';\nexport type B = C;\n",
      'deep/c.ts': "import type { A } from '../a.js';\nexport type C = A[];\n",
    };
    expect(problems(files)).to.deep.equal(['Imports itself: a.ts -> b.ts -> deep/c.ts -> a.ts.']);
  });

  it('of what is exported again', () => {
    const files = { 'a.ts': "export { b } from './b.js';\n", 'b.ts': "export * from './a.js';\nexport const b = 1;\n" };
    expect(problems(files)).to.deep.equal(['Imports itself: a.ts -> b.ts -> a.ts.']);
  });

  it('and none where two files import a third, or a circle lies behind', () => {
    const files = {
      'a.ts': "import { b } from './b.js';\nimport { c } from './c.js';\nexport const a = b + c;\n",
      'b.ts': "import { c } from './c.js';\nexport const b = c;\n",
      'c.ts': "import type { D } from './d.js';\nexport const c = 1;\nexport type C = D;\n",
      'd.ts': "import type { C } from './c.js';\nexport type D = C;\n",
    };
    expect(problems(files)).to.deep.equal([]);
  });
});
