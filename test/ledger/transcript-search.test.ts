/** Kept transcripts are found by their words. */
import { expect } from 'chai';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { NewTranscript, TranscriptQuery } from '../../src/ledger/transcripts.js';
import { describeLedger } from './backends.js';
import { customer, useLedger } from './support.js';
import { listTranscripts, ROOM, transcript } from './transcript-support.js';

describeLedger('ledger: the search of kept transcripts', (backend) => {
  let ledger: Ledger;
  let accountId: string;
  useLedger(0, (fixture) => ({ ledger, accountId } = { ...fixture, accountId: fixture.ann.account.id }), backend);

  const keep = (id: string, searchTexts: readonly string[], more: Partial<NewTranscript> = {}): Promise<string> =>
    ledger.transcripts.keep(transcript(accountId, { id, searchTexts, ...more }), ROOM);
  const hits = async (query: string | Partial<TranscriptQuery>): Promise<[string, ...number[]][]> => {
    const asked = typeof query === 'string' ? { words: query } : query;
    const found = await listTranscripts(ledger.transcripts, accountId, asked);
    return found.map(({ transcript: { id }, matches }) => [id, ...matches]);
  };

  it('finds those that have all the words, wherever, and says in which text they are', async () => {
    await keep('a', [
      'The quick brown fox',
      'jumps over',
      'the lazy dog',
      'a fox and a dog',
      'a dog, a fox',
      'FOX dog',
    ]);
    await keep('b', ['A lazy cat', 'no more', 'a quick dog']);
    await keep('c', []);
    expect(await hits('fox')).to.deep.equal([['a', 0, 3, 4]]);
    expect(await hits('dog fox')).to.deep.equal([['a', 3, 4, 5]]);
    // No text has both: those that have one.
    expect(await hits('lazy quick')).to.deep.equal([
      ['b', 0, 2],
      ['a', 0, 2],
    ]);
    expect(await hits('lazy wolf')).to.deep.equal([]);
    expect(await hits('')).to.deep.equal([['c'], ['b'], ['a']]);
  });

  it('finds the last word by its beginning where none has it whole, and the others whole', async () => {
    await keep('a', ['Conference in Berlin']);
    await keep('other', ['greet', 'a fee']);
    await keep('more', ['a greeting in Berlin', 'greet them', 'fees']);
    await keep('most', ['greetings', 'fees']);
    expect(await hits('greet')).to.deep.equal([
      ['more', 1],
      ['other', 0],
    ]);
    expect(await hits('berlin fee')).to.deep.equal([['more', 0, 2]]);
    expect(await hits('greetin')).to.deep.equal([
      ['most', 0],
      ['more', 0],
    ]);
    // On the pages after the last of them, too.
    const [, last] = await listTranscripts(ledger.transcripts, accountId, { words: 'greet' });
    expect(await hits({ words: 'greet', after: last!.transcript.place })).to.deep.equal([]);
    expect(await hits('confer')).to.deep.equal([['a', 0]]);
    expect(await hits('berlin confer')).to.deep.equal([['a', 0]]);
    expect(await hits('confer berlin')).to.deep.equal([]);
    expect(await hits('ference')).to.deep.equal([]);
    expect(await hits('co')).to.deep.equal([]);
  });

  it('finds words without their accents and case, and Chinese, Japanese, Korean and Thai within their texts', async () => {
    await keep('de', ['Die Straße nach Zürich']);
    await keep('zh', ['我们明天去北京开会', '上海也很好']);
    await keep('ja', ['東京タワーに行きました']);
    await keep('ko', ['서울에서 만나요']);
    await keep('th', ['ยินดีต้อนรับสู่กรุงเทพ']);
    expect(await hits('ZURICH strasse')).to.deep.equal([['de', 0]]);
    expect(await hits('北京')).to.deep.equal([['zh', 0]]);
    expect(await hits('上海')).to.deep.equal([['zh', 1]]);
    expect(await hits('会')).to.deep.equal([['zh', 0]]);
    expect(await hits('京')).to.deep.equal([
      ['ja', 0],
      ['zh', 0],
    ]);
    expect(await hits('タワー')).to.deep.equal([['ja', 0]]);
    expect(await hits('서울')).to.deep.equal([['ko', 0]]);
    expect(await hits('กรุงเทพ')).to.deep.equal([['th', 0]]);
    expect(await hits('北海')).to.deep.equal([]);
  });

  it('finds titles and speakers, as they are now', async () => {
    await keep('a', ['hello'], { title: 'Board meeting.mp3', speakers: ['Ada Lovelace'] });
    expect(await hits('board')).to.deep.equal([['a']]);
    expect(await hits('lovelace hello')).to.deep.equal([['a', 0]]);
    await ledger.transcripts.update(accountId, 'a', { version: 1, change: {}, title: 'Other', speakers: ['Bo'] }, ROOM);
    expect(await hits('board')).to.deep.equal([]);
    expect(await hits({ speaker: 'Ada Lovelace' })).to.deep.equal([]);
    expect(await hits('other bo hello')).to.deep.equal([['a', 0]]);
    const text = { content: {}, searchTexts: ['bye'], translationLanguage: null };
    await ledger.transcripts.update(accountId, 'a', { version: 2, change: {}, text }, ROOM);
    expect(await hits('hello')).to.deep.equal([]);
    expect(await hits('bye')).to.deep.equal([['a', 0]]);
    expect(await hits('other bye')).to.deep.equal([['a', 0]]);
  });

  it('filters by language, source and speaker, with words and without', async () => {
    await keep('a', ['hello'], { language: 'en', source: { kind: 'page', name: null }, speakers: ['Ada', 'Bo'] });
    await keep('b', ['hello'], { language: 'de', source: { kind: 'api', name: 'page' }, speakers: ['Zoë', '?'] });
    await keep('c', ['language en'], { language: 'fr', source: { kind: 'live', name: null }, speakers: [] });
    expect(await hits({ language: 'en' })).to.deep.equal([['a']]);
    expect(await hits({ source: 'api' })).to.deep.equal([['b']]);
    expect(await hits({ source: 'job' })).to.deep.equal([]);
    expect(await hits({ speaker: 'zoe' })).to.deep.equal([['b']]);
    expect(await hits({ speaker: '?' })).to.deep.equal([['b']]);
    expect(await hits({ speaker: 'Zo' })).to.deep.equal([]);
    expect(await hits({ words: 'hello', language: 'de' })).to.deep.equal([['b', 0]]);
    expect(await hits({ words: 'hello', language: 'de', source: 'page' })).to.deep.equal([]);
    expect(await hits({ words: 'hello', speaker: 'BO', language: 'en', source: 'page' })).to.deep.equal([['a', 0]]);
  });

  it('gives pages of hits, and hits of a time', async () => {
    for (let n = 0; n < 7; n++) await keep(`t${n}`, n % 2 === 0 ? ['hello'] : ['bye']);
    const found: string[] = [];
    for (let after: string | null = null; ;) {
      const page = await listTranscripts(ledger.transcripts, accountId, { words: 'hello', limit: 3, after });
      found.push(...page.map((hit) => hit.transcript.id));
      if (page.length < 3) break;
      after = page.at(-1)!.transcript.place;
    }
    expect(found).to.deep.equal(['t6', 't4', 't2', 't0']);
    expect(await hits({ words: 'hello', from: '2026-01-16' })).to.deep.equal([]);
    expect(await hits({ words: 'hello', to: '2026-01-15' })).to.deep.equal([]);
    expect(await hits({ words: 'bye', from: '2026-01-15', to: '2026-01-16' })).to.have.length(3);
  });

  it('takes what a query of a database has as text', async () => {
    await keep('a', ['nothing']);
    const other = (await customer(ledger, 'bob@example.com')).account.id;
    await ledger.transcripts.keep(transcript(other, { searchTexts: ['x OR 1'] }), ROOM);
    for (const words of [
      `" OR "`,
      `x" OR tokens:*`,
      `') | (`,
      `x' | !'y`,
      `NEAR(a b)`,
      '*',
      '-',
      `'':*`,
      '\0',
      '^x',
      '_1',
    ])
      expect(await hits(words), words).to.satisfy((found: [string][]) => found.every(([id]) => id === 'a'));
    expect(await hits(`x OR 1`)).to.deep.equal([]);
  });

  it('is of as many words as an index can hold', async () => {
    const words = Array.from({ length: 200_000 }, (_, n) => `word${n}`);
    await keep('a', [words.slice(0, 1000).join(' '), words.join(' ')]);
    expect(await hits('word999')).to.deep.equal([['a', 0, 1]]);
    expect(await hits('word50000')).to.deep.equal([['a', 1]]);
    expect(await hits('word199999')).to.deep.equal([]);
  });
});
