import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTimedClips } from '../../../src/models/alignment/timed-clips.js';

describe('Clips with the times of their words', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-timed-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  const WORDS = [
    { word: 'Guten', start: 0.1, end: 0.4 },
    { word: 'Tag.', start: 0.4, end: 0.7 },
  ];
  const CLIP = { file: 'a.wav', language: 'de', text: 'Guten Tag.', words: WORDS };

  function listed(list: unknown): string {
    writeFileSync(join(directory, 'words.json'), JSON.stringify(list));
    return directory;
  }

  it('are read with what is known of them', () => {
    const [plain, reported] = readTimedClips(listed([CLIP, { ...CLIP, kind: 'piece', voices: 'held' }]));
    expect(plain).to.deep.equal({
      path: join(directory, 'a.wav'),
      ...{ language: 'de', text: 'Guten Tag.', kind: null, voices: null, words: WORDS },
    });
    expect(reported).to.include({ kind: 'piece', voices: 'held' });
  });

  it('are refused by name of what is wrong', () => {
    expect(() => readTimedClips(directory)).to.throw('words.json');
    expect(() => readTimedClips(listed([]))).to.throw('lists no clips');
    expect(() => readTimedClips(listed([CLIP, { ...CLIP, words: undefined }]))).to.throw(
      'clip 1 lacks file, language, text or words',
    );
    const backwards = [WORDS[1], WORDS[0]];
    expect(() => readTimedClips(listed([{ ...CLIP, words: backwards }]))).to.throw('clip 0: word 1');
    const timeless = [{ word: 'Guten', start: 0.1 }];
    expect(() => readTimedClips(listed([{ ...CLIP, words: timeless }]))).to.throw('clip 0: word 0');
  });
});
