/** The lint rule that keeps the private words of earlier editions out of names. */
import { expect } from 'chai';
import { Linter, type Rule } from 'eslint';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const RULE = pathToFileURL(join(__dirname, '..', 'lint', 'glossary.mjs')).href;

describe('The glossary of names', () => {
  let messagesOf: (code: string, filename?: string) => string[];

  before(async () => {
    const { default: glossary } = (await import(RULE)) as { default: Rule.RuleModule };
    const config = { plugins: { verbatim: { rules: { glossary } } }, rules: { 'verbatim/glossary': 'error' as const } };
    messagesOf = (code, filename = 'file.js') =>
      new Linter().verify(code, config, { filename }).map(({ message }) => message);
  });

  it('refuses a private word in any identifier, and says what the field calls it', () => {
    for (const name of ['told', 'isTold', 'TOLD_LENGTH', 'toldLength', 'giveBack', 'ModelShelf', 'MemberVisit'])
      expect(messagesOf(`const ${name} = 1;`), name).to.have.length(1);
    expect(messagesOf('class A { #heard = 1; }')).to.deep.equal([
      '"heard" has the word "heard"; the field says: recognise, detect or receive.',
    ]);
  });

  it('refuses it in the name of a file, not of its folder', () => {
    expect(messagesOf('', 'src/http/shut-out.js')).to.deep.equal([
      '"shut-out.js" has the word "shutout"; the field says: suspend.',
    ]);
    expect(messagesOf('', 'told/log.js')).to.deep.equal([]);
  });

  it('refuses it in what a text in SQL makes, unless databases have it already', () => {
    const made = [
      ['create table', 'wishes_told'],
      ['CREATE OR REPLACE FUNCTION', 'bury_all'],
      ['CREATE UNIQUE INDEX IF NOT EXISTS', 'heard_by_age'],
      ['DROP TABLE a; CREATE TRIGGER', 'forget_old'],
    ] as const;
    for (const [create, name] of made) {
      expect(messagesOf(`run('${create} ${name} (');`), name).to.have.length(1);
      expect(messagesOf(`run(\`${create}\n  ${name}\`);`), name).to.have.length(1);
    }
    expect(messagesOf("run('CREATE FUNCTION bury(dead TEXT)', 'SELECT told FROM heard', 'CREATE TABLE jobs')")).to.be
      .empty;
  });

  it('permits words that only contain one, and text', () => {
    for (const name of ['callEnds', 'intelligent', 'threshold', 'visitor', 'renewShelter', 'given', 'backlog'])
      expect(messagesOf(`const ${name} = 'told, heard';`), name).to.deep.equal([]);
  });
});
