/** The glossary over the names of the C++ sources. */
import { expect } from 'chai';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = join(__dirname, '..', '..');

interface NativeGlossary {
  privateNames: (text: string) => string[];
  privateNamesBelow: (root: string) => string[];
}

describe('The glossary of native names', () => {
  let glossary: NativeGlossary;

  before(async () => {
    const url = pathToFileURL(join(ROOT, 'lint', 'native-glossary.mjs')).href;
    glossary = (await import(url)) as NativeGlossary;
  });

  it('has no word that native/ uses', () => {
    expect(glossary.privateNamesBelow(ROOT)).to.deep.equal([]);
  });

  it('refuses a private word in any form of a name, once a file', () => {
    for (const name of ['told', 'is_told', 'kToldLength', 'ToldLength', 'give_back', 'visit_all', 'heard_'])
      expect(glossary.privateNames(`int ${name} = 1; use(${name});`), name).to.have.length(1);
    expect(glossary.privateNames('const Heard audio;')).to.deep.equal([
      '"Heard" has the word "heard"; the field says: recognise, detect or receive.',
    ]);
    expect(glossary.privateNames("const int n = 1'000; char told = 'a';")).to.have.length(1);
  });

  it('permits comments, texts, the standard library, and words that only contain one', () => {
    const code = String.raw`
      // told
      /* heard
         said */
      const char* text = "told \" heard", *raw = R"x(told)" heard)x";
      std::visit(visitor, threshold, stream.tellg(), intelligent, '"');
    `;
    expect(glossary.privateNames(code)).to.deep.equal([]);
  });
});
