import { expect } from 'chai';
import { readingParagraphs } from '../../../../src/http/dashboard/browser/paragraphs.js';

describe('dashboard: paragraphs of a transcript', () => {
  const texts = (segments: { text: string; speaker?: string }[]) =>
    readingParagraphs(segments).map((paragraph) => paragraph.map(({ text }) => text).join(' '));

  it('are what one speaker says in a row', () => {
    const turns = [
      ['S1', 'One?'],
      ['S2', 'Two.'],
      ['S2', 'Three.'],
      ['S1', 'Four.'],
    ].map(([speaker = '', text = '']) => ({ speaker, text }));
    expect(texts(turns)).to.deep.equal(['One?', 'Two. Three.', 'Four.']);
    expect(texts([])).to.deep.equal([]);
  });

  it('end with a sentence once they are long, and not before', () => {
    const segments = [{ text: `${'a'.repeat(600)},` }, { text: 'and on.' }, { text: 'Next.' }, { text: 'Last.' }];
    expect(readingParagraphs(segments).map((paragraph) => paragraph.length)).to.deep.equal([2, 2]);
    const short = [{ text: 'One.' }, { text: 'Two.' }];
    expect(readingParagraphs(short)).to.have.length(1);
    const chinese = [{ text: `${'好'.repeat(600)}。` }, { text: '下一个。' }];
    expect(readingParagraphs(chinese)).to.have.length(2);
  });
});
