/** The lint that counts words. */
import { expect } from 'chai';
import { parseDocument } from '../../lint/documents/markdown.js';
import { figuresOf, sentencesOf, wordsOf } from '../../lint/documents/sentences.js';

describe('Sentences of documents', () => {
  it('end with a full stop and a capital, and before a list', () => {
    expect(sentencesOf('It is 2.5 s, e.g. here. Then `code` follows. "Why?" he asked:')).to.deep.equal([
      'It is 2.5 s, e.g. here.',
      'Then `code` follows.',
      '"Why?" he asked',
    ]);
  });

  it('are counted in words, code as one of them', () => {
    const { paragraphs } = parseDocument(
      'a.md',
      'Run `npx verbatim serve --port 1` and wait.\n\n| a table |\n|---|\n\n```\ncode\n```\n',
    );
    expect(paragraphs.map(wordsOf)).to.deep.equal([4]);
    expect(wordsOf('A dash – is no word.')).to.equal(5);
  });

  it('are long past 30 words, and passive by their verb', () => {
    const long = `${'word '.repeat(31).trim()}.`;
    const figures = figuresOf([
      long,
      'The file is read. The server reads it.',
      'A job was never cancelled.',
      'It is red.',
    ]);
    expect(figures).to.deep.include({ sentences: 5, long: 1 / 5, passive: 2 / 5 });
    expect(figures.average).to.equal((31 + 4 + 4 + 5 + 3) / 5);
  });
});
