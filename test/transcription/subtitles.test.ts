import { expect } from 'chai';
import fc from 'fast-check';
import { captionsOf } from '../../src/transcription/captions.js';
import { READING_SPEED, srtOf, vttOf, type Subtitled } from '../../src/transcription/subtitles.js';
import { readSrt, readVtt, type ReadCue } from '../support/strict-subtitles.js';

const segment = (startSeconds: number, endSeconds: number, text: string) => ({ startSeconds, endSeconds, text });
const subtitled = (...segments: ReturnType<typeof segment>[]): Subtitled => ({
  ...{ segments, language: 'en' },
  durationSeconds: segments.at(-1)?.endSeconds ?? 5,
});

const timesOf = ({ startSeconds, endSeconds }: ReadCue): [number, number] => [startSeconds, endSeconds];

/** Both formats, read back; they say the same. */
function read(given: Subtitled): ReadCue[] {
  const cues = readVtt(vttOf(given));
  expect(readSrt(srtOf(given)).map(timesOf)).to.deep.equal(cues.map(timesOf));
  return cues;
}

/** Four lines that only the spaces between them make longer than four times the most. */
const FULL_LINES = [
  ...[
    '-->',
    `${'x'.repeat(6)}\0${'x'.repeat(4)}\0${'x'.repeat(6)}`,
    '1',
    'xx',
    'x'.repeat(14),
    'x'.repeat(6),
    'x'.repeat(4),
  ],
  ...['00:00', `${'x'.repeat(4)}\0${'x'.repeat(10)}`, 'x'.repeat(8), '1', '&lt;', '-->', 'x'.repeat(16)],
  ...[`${'x'.repeat(12)}!`, '<i>', 'x'.repeat(20), 'x'.repeat(16)],
];

describe('subtitles', () => {
  it('are SubRip', () => {
    const two = subtitled(segment(0.24, 3.1, 'Hoy es domingo.'), segment(3.1, 3661.005, 'Adiós.'));
    expect(srtOf(two)).to.equal(
      '1\n00:00:00,240 --> 00:00:03,100\nHoy es domingo.\n\n2\n00:00:03,100 --> 01:01:01,005\nAdiós.\n',
    );
  });

  it('are WebVTT', () => {
    const two = subtitled(segment(0.24, 3.1, 'R&D <is> fun'), segment(3.1, 3661.005, '你好。'));
    expect(vttOf(two)).to.equal(
      'WEBVTT\n\n00:00:00.240 --> 00:00:03.100\nR&amp;D &lt;is&gt; fun\n\n00:00:03.100 --> 01:01:01.005\n你好。\n',
    );
  });

  it('of nothing are valid, and have no cue', () => {
    expect(read(subtitled())).to.deep.equal([]);
    expect(read(subtitled(segment(0, 2, ' ')))).to.deep.equal([]);
  });

  it('keep times beyond 99 hours', () => {
    expect(srtOf(subtitled(segment(360_000, 360_001, 'late')))).to.include('100:00:00,000 --> 100:00:01,000');
  });

  it('have two lines about as long as each other', () => {
    const text = 'The conductor walked through all of the empty carriages.';
    expect(read(subtitled(segment(0, 5, text)))[0]?.lines).to.deep.equal([
      'The conductor walked through',
      'all of the empty carriages.',
    ]);
    expect(read(subtitled(segment(0, 5, 'a'.repeat(42))))[0]?.lines).to.have.length(1);
  });

  it('break lines between words of languages without spaces', () => {
    const text = '東京駅から新幹線に乗って大阪へ向かいましたが途中で雪のために電車が止まってしまいました。';
    const { lines } = read({ ...subtitled(segment(0, 5, text)), language: 'ja' })[0]!;
    expect(lines.map(({ length }) => length)).to.deep.equal([22, 22]);
    expect(lines.join('')).to.equal(text);
  });

  it('make nothing of an arrow, a line break or a control character in what is said', () => {
    const text = 'a -->\r\n\r\n2\u0000 ----> b\u2028c';
    expect(readSrt(srtOf(subtitled(segment(0, 5, text))))[0]?.lines).to.deep.equal(['a -> 2 -> b c']);
    expect(readVtt(vttOf(subtitled(segment(0, 5, text))))[0]?.lines).to.deep.equal(['a --> 2 ----> b c']);
  });

  it('write every script', () => {
    for (const text of ['שלום, עולם.', 'مرحبا بالعالم؟', 'สวัสดีครับ', '👩‍🚀 go!', 'नमस्ते।']) {
      expect(read(subtitled(segment(0, 5, text)))[0]?.lines).to.deep.equal([text]);
    }
  });

  describe('are shown for as long as they take to read', () => {
    const shown = (given: Subtitled): number[][] => read(given).map(timesOf);
    const text = 'x'.repeat(40);

    it('into the pause behind them', () => {
      const given = subtitled(segment(1, 1.5, text), segment(10, 12, text));
      expect(shown(given)[0]).to.deep.equal([1, 1 + 40 / READING_SPEED]);
    });

    it('as far as the next one, or the end', () => {
      const given = subtitled(segment(1, 1.5, text), segment(2, 2.5, text));
      expect(shown({ ...given, durationSeconds: 3 })).to.deep.equal([
        [1, 2],
        [2, 3],
      ]);
    });

    it('or a second', () => {
      expect(shown({ ...subtitled(segment(1, 1.2, 'Yes.')), durationSeconds: 9 })).to.deep.equal([[1, 2]]);
    });

    it('and where there is no pause, as long as they were said', () => {
      expect(shown(subtitled(segment(1, 1.5, text), segment(1.5, 9, text)))[0]).to.deep.equal([1, 1.5]);
    });

    it('before the end, when nothing is left behind', () => {
      expect(shown(subtitled(segment(1, 3, 'a'), segment(5, 5, 'b')))[1]).to.deep.equal([4, 5]);
    });
  });

  it('of any text can be read by the letter', async () => {
    const word = fc.tuple(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.constantFrom('-->', '&lt;', '<i>', '1', '\n\n', '00:00'),
      ),
      fc.nat(4000),
      fc.nat(2000),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { maxLength: 80, size: 'max' }),
        fc.constantFrom('en', 'ja', 'ar'),
        async (recipe, language) => {
          let at = 0;
          const words = recipe.map(([text, length, gap]) => {
            const startSeconds = at + gap / 1000;
            at = startSeconds + length / 1000;
            return { text: ` ${text}`, startSeconds, endSeconds: at, probability: 1 };
          });
          const text = words.map((word) => word.text).join('');
          const segments = await captionsOf([{ startSeconds: 0, endSeconds: at, text, words }], language, at);
          const cues = read({ segments, language, durationSeconds: at });
          for (const { lines, endSeconds } of cues) {
            expect(endSeconds).to.be.at.most(Math.max(0.001, Math.round(at * 1000) / 1000));
            for (const line of lines) if (line.length > 42) expect(line).not.to.include(' ');
          }
        },
      ),
      { numRuns: 300, examples: [[FULL_LINES.map((text) => [text, 0, 0]), 'ja']] },
    );
  });
});
