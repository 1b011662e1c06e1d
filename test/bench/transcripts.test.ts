import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readClips, readSpokenClips, type SpokenClip } from '../../bench/load/clips.js';
import { differingTables, transcriptTable } from '../../bench/reports/transcripts.js';

const clip = (language: string, text: string): SpokenClip => ({
  ...{ path: `${text}.wav`, language, text, sentences: 1, voices: null },
});
const pairs = [
  {
    clip: clip('en', 'one two three four'),
    first: { language: 'en', text: 'one two three four' },
    second: { language: 'de', text: 'one two' },
  },
  {
    clip: clip('de', 'eins zwei'),
    first: { language: 'de', text: 'eins drei' },
    second: { language: 'de', text: 'eins drei' },
  },
];
const columns = { title: 'Clips', first: 'ours', second: 'theirs' };

describe('Clips pairs in two ways', () => {
  it('are counted by language and in all: words wrong, languages right, texts that are the same', () => {
    const { rows } = transcriptTable(pairs, columns);
    expect(rows.map((row) => row['language'])).to.deep.equal(['de', 'en', 'all']);
    expect(rows[1]).to.deep.equal({
      language: 'en',
      'ours WER %': 0,
      'theirs WER %': 50,
      difference: -50,
      'same text': '0/1',
      'language right, ours': '1/1',
      'language right, theirs': '0/1',
    });
    // Of all words, not of the languages: one of six beside three of six.
    expect(rows[2]).to.include({ 'ours WER %': 16.7, 'theirs WER %': 50, difference: -33.3, 'same text': '1/2' });
  });

  it('are grouped by anything else', () => {
    const { rows } = transcriptTable(pairs, {
      ...columns,
      groupOf: ({ sentences }) => ({ sentences: String(sentences) }),
    });
    expect(rows).to.have.length(1);
    expect(rows[0]).to.include({ sentences: '1', 'same text': '1/2' });
  });

  it('are listed where text or language differ, and not otherwise', () => {
    const [table] = differingTables(pairs, columns);
    expect(table?.rows).to.deep.equal([
      { clip: 'one two three four.wav', ours: 'en: one two three four', theirs: 'de: one two' },
    ]);
    expect(differingTables(pairs.slice(1), columns)).to.deep.equal([]);
  });
});

describe('The list beside clips', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  const list = (...entries: unknown[]): void => writeFileSync(join(directory, 'refs.json'), JSON.stringify(entries));

  it('says what is spoken in each', () => {
    list({ file: 'a.wav', language: 'en', text: 'One.' });
    const spoken = { path: join(directory, 'a.wav'), language: 'en', text: 'One.' };
    expect(readSpokenClips(directory)).to.deep.equal([{ ...spoken, sentences: null, voices: null }]);
  });

  it('may leave out the words where nobody needs them', () => {
    list({ file: 'a.wav', language: 'en' }, { file: 'b.wav' });
    expect(readClips(directory).map(({ language }) => language)).to.deep.equal(['en', null]);
    expect(() => readSpokenClips(directory)).to.throw(Error, 'lacks language or text of a.wav');
    rmSync(join(directory, 'refs.json'));
    expect(() => readSpokenClips(directory)).to.throw(Error, 'has no clips in a refs.json');
  });
});
