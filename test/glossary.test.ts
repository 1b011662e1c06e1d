/** The lint rule that keeps the private words of earlier editions out of identifiers. */
import { expect } from 'chai';
import { Linter, type Rule } from 'eslint';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const RULE = pathToFileURL(join(__dirname, '..', 'lint', 'glossary.mjs')).href;

describe('The glossary of identifiers', () => {
  let messagesOf: (code: string) => string[];

  before(async () => {
    const { default: glossary } = (await import(RULE)) as { default: Rule.RuleModule };
    const config = { plugins: { verbatim: { rules: { glossary } } }, rules: { 'verbatim/glossary': 'error' as const } };
    messagesOf = (code) => new Linter().verify(code, config).map(({ message }) => message);
  });

  it('refuses a private word in any identifier, and says what the field calls it', () => {
    for (const name of ['told', 'isTold', 'TOLD_LENGTH', 'toldLength', 'giveBack', 'ModelShelf', 'MemberVisit'])
      expect(messagesOf(`const ${name} = 1;`), name).to.have.length(1);
    expect(messagesOf('class A { #heard = 1; }')).to.deep.equal([
      '"heard" has the word "heard"; the field says: recognise, detect or receive.',
    ]);
  });

  it('permits words that only contain one, and text', () => {
    for (const name of ['callEnds', 'intelligent', 'threshold', 'visitor', 'renewShelter', 'given', 'backlog'])
      expect(messagesOf(`const ${name} = 'told, heard';`), name).to.deep.equal([]);
  });
});
