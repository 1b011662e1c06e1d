/** The lint rule that keeps the private words of earlier editions out of names; and texts without them. */
import { expect } from 'chai';
import { Linter, type Rule } from 'eslint';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as ts from 'typescript';
import { parseDocument } from '../lint/documents/markdown.js';
import { packageRoot } from '../src/package-root.js';
import { documents } from './support/documents/blocks.js';

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

describe('The glossary of texts', () => {
  /** Of an earlier private vocabulary, and what texts say in its place. */
  const REPLACED: readonly (readonly [RegExp, string])[] = [
    [/\b(tells?|told|telling)\b/i, 'report, notify, distinguish'],
    [/\bheard\b/i, 'recognise, detect, receive'],
    [/\b(lends?|lent|gives? back|given back)\b/i, 'acquire, release'],
    [/\b(circumstances|surroundings|the situation)\b/i, 'the thing itself'],
    [/\b(suspects?|on trial|errands?|shelf|wish(es|ed)?|owed?|troubles?|news)\b/i, 'the field’s word'],
    [/\b(bury|buries|buried|reaps?|reaped)\b/i, 'release, end'],
    [/\b(shuts? out|shutting out)\b/i, 'suspend'],
    [/\b(forgets?|forgotten)\b/i, 'delete'],
    [/\b(anew|takes? in|taken in|spoken of)\b/i, 'again, accept, named'],
    [
      /\b(present password|packs? of credits|ever granted|the books)\b/i,
      'current password, credit pack, total, ledger',
    ],
  ];
  /** What a reader says of himself. */
  const PERMITTED = ['No password yet, or forgotten it?'];

  const replacedIn = (text: string): string[] => {
    const left = PERMITTED.reduce((rest, words) => rest.replace(words, ''), text);
    return REPLACED.flatMap(([word, instead]) => {
      const found = word.exec(left);
      return found === null ? [] : [`"${found[0]}" is ${instead}: ${text.slice(0, 100)}`];
    });
  };

  /** Texts of several words in a file: messages, help, descriptions, pages. Not SQL, whose names databases have. */
  function textsIn(path: string): string[] {
    const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
    const texts: string[] = [];
    const collect = (node: ts.Node): void => {
      if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
        texts.push(node.text);
      ts.forEachChild(node, collect);
    };
    collect(source);
    return texts.filter(
      (text) => / /.test(text.trim()) && !/\b(SELECT|CREATE|UPDATE|DELETE|INSERT|REFERENCES)\b/.test(text),
    );
  }

  it('is kept by every text of the service', () => {
    const files = readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((file) => file.endsWith('.ts') && !/migrations|\/dist\/|client\/schema/.test(file));
    const found = sources.flatMap((file) =>
      textsIn(join(packageRoot, 'src', file)).flatMap((text) =>
        replacedIn(text).map((fault) => `src/${file}: ${fault}`),
      ),
    );
    expect(found).to.deep.equal([]);
  });

  it('is kept by the documents', () => {
    const found = [...documents(), 'CHANGELOG.md', 'src/client/README.md', 'models/README.md'].flatMap((path) =>
      parseDocument(path).paragraphs.flatMap((text) => replacedIn(text).map((fault) => `${path}: ${fault}`)),
    );
    expect(found).to.deep.equal([]);
  });

  it('refuses a replaced word, and no word that contains one', () => {
    expect(replacedIn('The client is told once.')).to.have.length(1);
    expect(replacedIn('Packs of credits')).to.have.length(1);
    expect(replacedIn('An intelligent reader shows the threshold of a silent borrower.')).to.deep.equal([]);
  });
});
