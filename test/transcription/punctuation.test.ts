import { expect } from 'chai';
import fc from 'fast-check';
import { piecesWithoutPunctuation, withoutPunctuation } from '../../src/transcription/punctuation.js';

/** language, text, what is left of it */
type Example = readonly [string, string, string];

function check(examples: readonly Example[]): void {
  for (const [language, text, expected] of examples) {
    expect(withoutPunctuation(text, language), `${language}: ${text}`).to.equal(expected);
  }
}

describe('withoutPunctuation', () => {
  it('drops marks and capitals', () =>
    check([
      ['en', ' Hello, World! How are you?', 'hello world how are you'],
      ['en', '“Well…” she said — (quietly); yes: no.', 'well she said quietly yes no'],
      ['en', 'Stop.Go', 'stop go'],
      ['en', 'one--two / three', 'one two three'],
      ['es', '¿Qué tal? ¡Muy bien!', 'qué tal muy bien'],
      ['fr', '« Où est-il ? » demanda-t-elle.', 'où est-il demanda-t-elle'],
      ['de', '„Guten Tag“, sagte Frau Müller.', 'guten tag sagte frau müller'],
      ['el', 'Τι κάνεις; Καλά· ευχαριστώ.', 'τι κάνεις καλά ευχαριστώ'],
      ['en', '♪ La la ♪ [Music]', 'la la music'],
    ]));

  it('keeps apostrophes and hyphens inside words only', () =>
    check([
      ['en', "Don't say 'hello' to the dogs' owner.", "don't say hello to the dogs owner"],
      ['en', 'It’s a ‘well-known’ state-of-the-art thing -', 'it’s a well-known state-of-the-art thing'],
      ['en', "Rock 'n' roll, COVID-19, 1990-1995", 'rock n roll covid-19 1990-1995'],
      ['fr', "L'été, aujourd’hui, l'on s'aime.", "l'été aujourd’hui l'on s'aime"],
      ['it', "Un po' d'acqua.", "un po d'acqua"],
      ['tr', "Türkiye'nin başkenti Ankara'dır.", "türkiye'nin başkenti ankara'dır"],
      ['uk', "П'ять м’ячів.", "п'ять м’ячів"],
      ['en', 'non‑breaking - dash – here', 'non‑breaking dash here'],
      ['en', 'London–Paris', 'london paris'],
      ['he', 'צה"ל, בית־ספר, ג׳ירפה "שלום".', 'צה"ל בית־ספר ג׳ירפה שלום'],
      ['ca', 'Una col·lecció.', 'una col·lecció'],
    ]));

  it('keeps decimal and grouping marks inside numbers', () =>
    check([
      ['de', 'Es kostet 3,5 Euro.', 'es kostet 3,5 euro'],
      ['en', 'Pi is 3.14, or 3.1416.', 'pi is 3.14 or 3.1416'],
      ['de', 'Genau 1.000,5.', 'genau 1.000,5'],
      ['en', '1,000,000.50!', '1,000,000.50'],
      ['en', '1, 2, 3. 4.', '1 2 3 4'],
      ['en', 'At -5 or −3.5, even -.5 or .25', 'at -5 or −3.5 even -.5 or .25'],
      ['ar', '٣٫٥ درهم، شكراً؟', '٣٫٥ درهم شكراً'],
      ['fr', '12 345,6 km', '12 345,6 km'],
      ['en', 'wait...5', 'wait 5'],
    ]));

  it('keeps signs that are words', () =>
    check([
      ['en', 'AT&T gained 50% ($3.50).', 'at&t gained 50% $3.50'],
      ['en', 'C++, C# and mail@example.com', 'c++ c# and mail@example com'],
      ['de', '20 °C, § 5: 10 €', '20 °c § 5 10 €'],
    ]));

  it('joins the letters of initialisms', () =>
    check([
      ['en', 'The U.S.A. and the U.K. agree.', 'the usa and the uk agree'],
      ['de', 'Das ist z.B. gut.', 'das ist zb gut'],
      ['en', 'Plan A. Then plan B.', 'plan a then plan b'],
      ['en', 'I did. I know.', 'i did i know'],
    ]));

  it('lowers letters as the language does', () =>
    check([
      ['tr', 'IŞIK İLE DİYARBAKIR', 'ışık ile diyarbakır'],
      ['en', 'ISTANBUL', 'istanbul'],
      ['de', 'STRAẞE, Straße, GROẞ', 'straße straße groß'],
      ['el', 'ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
      ['az', 'İLK QIZIL', 'ilk qızıl'],
    ]));

  it('knows the marks of other scripts', () =>
    check([
      ['zh', '你好，世界。“今天”是3.5度！', '你好 世界 今天 是3.5度'],
      ['ja', 'こんにちは、ジョン・スミスさん。「はい」～', 'こんにちは ジョン スミスさん はい'],
      ['ja', 'スーパー', 'スーパー'],
      ['hi', 'नमस्ते। आप कैसे हैं?', 'नमस्ते आप कैसे हैं'],
      ['th', 'สวัสดีครับ ๆ "ดี"', 'สวัสดีครับ ๆ ดี'],
      ['ar', '«مرحبا»، كيف حالك؟', 'مرحبا كيف حالك'],
      ['fa', 'می‌روم؛ خانه‌ام.', 'می‌روم خانه‌ام'],
      ['hy', 'Ինչպե՞ս ես։', 'ինչպես ես'],
      ['bo', 'བོད་སྐད།', 'བོད་སྐད'],
      ['am', 'ሰላም፣ ዓለም።', 'ሰላም ዓለም'],
      ['ko', '안녕하세요! 반갑습니다.', '안녕하세요 반갑습니다'],
      ['vi', 'Tiếng Việt, đúng không?', 'tiếng việt đúng không'],
    ]));

  it('composes accents, so that both spellings give the same words', () => {
    expect(withoutPunctuation('Cafe\u0301!', 'fr')).to.equal('café');
  });

  it('leaves nothing of text without words', () =>
    check([
      ['en', '', ''],
      ['en', ' ... ', ''],
      ['en', '-', ''],
      ['en', "'", ''],
    ]));

  it('is idempotent, and keeps every letter and digit in its order', () => {
    const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        const once = withoutPunctuation(text, 'en');
        expect(withoutPunctuation(once, 'en')).to.equal(once);
        expect(letters(once)).to.equal(letters(text.normalize('NFC').toLocaleLowerCase('en')));
      }),
      { numRuns: 1000 },
    );
  });

  it('is done with a text that a search back and forth would take minutes for', () => {
    const unit = "A.b.c-d'e,1.2";
    const expected = withoutPunctuation(unit, 'en');
    const text = withoutPunctuation(`${unit} `.repeat(50_000), 'en');
    expect(text === Array<string>(50_000).fill(expected).join(' ')).to.equal(true);
  });
});

describe('piecesWithoutPunctuation', () => {
  it('leaves of each piece what is left of it in the whole', () => {
    expect(piecesWithoutPunctuation(['他', '3.', '5', '公斤。'], 'zh')).to.deep.equal(['他', '3.', '5', '公斤']);
    expect(piecesWithoutPunctuation(['Well', '—', ' known', ' U.S', '. Dr', '.'], 'en')).to.deep.equal([
      ...['well', '', 'known', 'us', 'dr', ''],
    ]);
  });

  it('has all that is left of the whole', () => {
    const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'B', '3', '.', ',', '-', ' ', '“', '👩', 'é') }));
    fc.assert(
      fc.property(pieces, (texts) => {
        const bare = (text: string): string => text.replaceAll(' ', '');
        expect(bare(piecesWithoutPunctuation(texts, 'en').join(''))).to.equal(
          bare(withoutPunctuation(texts.join(''), 'en')),
        );
      }),
    );
  });
});
