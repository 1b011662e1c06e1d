/** What documents say of settings, fields and errors is what the code gives: `npm run generate:docs` writes it. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { VARIABLES } from '../../src/service/variables.js';
import { generated, GENERATED_DOCUMENTS } from './generate.js';
import { partsOf, withParts } from './marked-parts.js';

const textOf = (document: string): string => readFileSync(join(packageRoot, document), 'utf8');

describe('The generated parts of', () => {
  for (const [document, parts] of Object.entries(GENERATED_DOCUMENTS)) {
    it(`${document} are what the code gives; "npm run generate:docs" writes them`, async () => {
      const { is, should } = await generated(document);
      expect(is).to.equal(should);
    });

    it(`${document} are all that is generated for it, each once`, () => {
      expect(partsOf(textOf(document))).to.have.members(Object.keys(parts()));
    });
  }

  it('docs/settings.md have a section for every variable', () => {
    const sections = textOf('docs/settings.md').match(/(?<=^### )VERBATIM_\w+$/gm);
    expect(sections).to.deep.equal(VARIABLES);
  });

  it('a document replace what stood between the marks, and nothing else', async () => {
    const document = 'Before.\n\n<!-- generated: one -->\nold\n<!-- end -->\n\nAfter.\n';
    const after = 'Before.\n\n<!-- generated: one -->\n\n_new_\n\n<!-- end -->\n\nAfter.\n';
    expect(await withParts(document, { one: '*new*' })).to.equal(after);
    expect(await withParts(after, { one: '*new*' })).to.equal(after);
  });

  it('a document must be known', async () => {
    const failure = await withParts('<!-- generated: two -->\n<!-- end -->', {}).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message', 'Nothing generates the part "two".');
  });
});
