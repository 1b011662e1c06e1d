import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRttm, readRttmDirectory, toRttm } from '../../../bench/speakers/rttm.js';

const LINE = 'SPEAKER talk 1 3.340 0.540 <NA> <NA> MEO069 <NA> <NA>';

describe('RTTM', () => {
  it('is read by recording; other types of lines, comments and turns of no length say nothing', () => {
    const text = [
      ';; who speaks',
      'SPKR-INFO talk 1 <NA> <NA> <NA> unknown MEO069 <NA> <NA>',
      LINE,
      '',
      'SPEAKER other 1 0 1.5 <NA> <NA> x <NA> <NA>\r',
      '  SPEAKER talk 1 4 0 <NA> <NA> y <NA>',
    ].join('\n');
    expect([...parseRttm(text)]).to.deep.equal([
      ['talk', [{ startSeconds: 3.34, endSeconds: 3.34 + 0.54, speaker: 'MEO069' }]],
      ['other', [{ startSeconds: 0, endSeconds: 1.5, speaker: 'x' }]],
    ]);
  });

  it('is read back as it is written', () => {
    const turns = [{ startSeconds: 0.125, endSeconds: 2.5, speaker: 'S1' }];
    expect(parseRttm(toRttm('talk', turns)).get('talk')).to.deep.equal(turns);
  });

  for (const [what, line, reported] of [
    ['too few fields', 'SPEAKER talk 1 3.3', 'line 2 has 4 fields; allowed: 8'],
    ['a start that is no number', LINE.replace('3.340', 'soon'), 'line 2: the start is "soon"'],
    ['a negative duration', LINE.replace('0.540', '-1'), 'line 2: the duration is "-1"'],
    ['no finite time', LINE.replace('0.540', '1e999'), 'line 2: the duration is "1e999"'],
    ['infinity', LINE.replace('0.540', 'Infinity'), 'line 2: the duration is "Infinity"'],
  ] as const) {
    it(`with ${what} is refused by its line`, () => {
      expect(() => parseRttm(`${LINE}\n${line}\n`)).to.throw(reported);
    });
  }

  it('takes names for names, whatever they are', () => {
    const read = parseRttm(LINE.replace('talk', '__proto__').replace('MEO069', 'constructor'));
    expect(read.get('__proto__')?.[0]?.speaker).to.equal('constructor');
  });

  describe('in a directory', () => {
    let directory: string;
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'verbatim-rttm-'));
    });
    afterEach(() => rmSync(directory, { recursive: true }));

    it('is read from all files, each recording once', () => {
      expect(() => readRttmDirectory(directory)).to.throw('holds no .rttm files');
      expect(() => readRttmDirectory(join(directory, 'missing'))).to.throw('holds no .rttm files');
      writeFileSync(join(directory, 'a.rttm'), LINE);
      writeFileSync(join(directory, 'b.rttm'), LINE.replace('talk', 'other'));
      expect([...readRttmDirectory(directory).keys()]).to.deep.equal(['talk', 'other']);
      writeFileSync(join(directory, 'c.rttm'), LINE);
      expect(() => readRttmDirectory(directory)).to.throw('two files are of the recording "talk"');
      writeFileSync(join(directory, 'c.rttm'), 'SPEAKER talk');
      expect(() => readRttmDirectory(directory)).to.throw('c.rttm: line 1 has 2 fields');
    });
  });
});
