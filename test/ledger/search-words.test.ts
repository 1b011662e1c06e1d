import { expect } from 'chai';
import { searchTermsOf, searchWordsOf } from '../../src/ledger/search-words.js';

describe('The words that a transcript is found by', () => {
  it('do not depend on case, accents or forms of letters', () => {
    for (const [text, words] of [
      ["Das Straßen-Café, don't!", 'das strassen cafe don t'],
      ['ÉCOLE e\u0301cole école', 'ecole ecole ecole'],
      ['Łódź Ærø İstanbul ısı', 'lodz aero istanbul isi'],
      ['ΟΔΟΣ οδός', 'οδοσ οδοσ'],
      ['ｆｕｌｌ ﬁne 12th', 'full fine 12th'],
      ['العَرَبِيَّة أحمد', 'العربية احمد'],
      ['हिन्दी में', 'हिन्दी में'],
    ] as const) {
      expect(searchWordsOf(text).join(' '), text).to.equal(words.normalize('NFC'));
    }
  });

  it('are pairs of letters where a script puts no spaces, and its marks make other letters', () => {
    expect(searchWordsOf('我在北京, ok')).to.deep.equal(['我在', '在北', '北京', '京', 'ok']);
    expect(searchWordsOf('バスとハス')).to.deep.equal(['バス', 'スと', 'とハ', 'ハス', 'ス']);
    expect(searchWordsOf('สวัสดี')).to.deep.equal(['สว', 'วั', 'ัส', 'สด', 'ดี', 'ี']);
    expect(searchWordsOf('서울에서')).to.deep.equal(['서울', '울에', '에서', '서']);
    for (const text of ['ພາສາລາວ', 'ភាសាខ្មែរ', 'မြန်မာ']) expect(searchWordsOf(text).length, text).to.be.above(3);
    expect(searchWordsOf('A1北c')).to.deep.equal(['a1', '北', 'c']);
    expect(searchWordsOf('\u{20000}\u{20001}')).to.deep.equal(['\u{20000}\u{20001}', '\u{20001}']);
  });

  it('of a query may end unfinished, and a single letter of such a script is where a pair begins', () => {
    expect(searchTermsOf('Hello wor')).to.deep.equal({ words: ['hello'], prefixes: [], last: 'wor' });
    expect(searchTermsOf('hello wo')).to.deep.equal({ words: ['hello', 'wo'], prefixes: [], last: null });
    expect(searchTermsOf('北京')).to.deep.equal({ words: ['北京'], prefixes: [], last: null });
    expect(searchTermsOf('京 海')).to.deep.equal({ words: [], prefixes: ['京', '海'], last: null });
    expect(searchTermsOf('')).to.equal(null);
    expect(searchTermsOf(' ?! "* ')).to.equal(null);
  });

  it('hold no sign that a query of a database has', () => {
    const words = searchWordsOf(`a'); DROP TABLE "x" OR NEAR(b) col:* -- & | ! <-> \\ \0 _c ^d {e}`);
    for (const word of words) expect(word).to.match(/^[a-z]+$/);
  });

  it('are cut when they are long, and so are the many of one query', () => {
    expect(searchWordsOf('x'.repeat(1_000))).to.deep.equal(['x'.repeat(64)]);
    expect(searchTermsOf('x'.repeat(1_000))).to.deep.equal({ words: ['x'.repeat(64)], prefixes: [], last: null });
    const many = Array.from({ length: 500 }, (_, n) => `w${n}`).join(' ');
    expect(searchTermsOf(many)?.words).to.have.length(32);
  });
});
