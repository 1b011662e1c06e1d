import { expect } from 'chai';
import { joinTexts, wordsIn } from '../../src/engine/transcript-text.js';

describe('joinTexts', () => {
  it('puts one space between segments, whether they begin with one or not', () => {
    expect(joinTexts([' Hello', 'world. ', '  And so on.'], 'en')).to.equal('Hello world. And so on.');
  });

  it('leaves out what is empty', () => {
    expect(joinTexts([' ', ' One.', '', ' Two.'], 'de')).to.equal('One. Two.');
    expect(joinTexts([], 'de')).to.equal('');
  });

  it('puts none in languages that are written without', () => {
    expect(joinTexts(['今日は', '晴れです。', '明日は雨。'], 'ja')).to.equal('今日は晴れです。明日は雨。');
    expect(joinTexts(['你好，', ' 世界'], 'zh')).to.equal('你好，世界');
    expect(joinTexts(['สวัสดี', 'ครับ'], 'th')).to.equal('สวัสดีครับ');
  });

  it('parts foreign words and numbers that meet there', () => {
    expect(joinTexts(['我喜欢 Open', 'Source', '软件 3', '4 次'], 'zh')).to.equal('我喜欢 Open Source软件 3 4 次');
  });
});

describe('wordsIn', () => {
  const expectWords = (language: string, ...words: string[]): unknown =>
    expect(wordsIn(words.join(''), language)).to.deep.equal(words);

  it('finds what stands between spaces, which belong to the word behind them', () => {
    expectWords('en', ' Hello,', ' world', ' –', ' well. ');
    expect(wordsIn(' ', 'en')).to.deep.equal([]);
  });

  it('finds words that are written without', () => {
    expectWords('ja', '今日', 'は', '晴れ', 'です。');
    expectWords('th', 'สวัสดี', 'ครับ ', 'คุณ');
    expectWords('zh', '我', '喜欢 ', 'Open ', 'Source。');
  });

  it('parts signs at spaces there', () => {
    expectWords('ja', '😀😀 ', '😀');
  });
});
