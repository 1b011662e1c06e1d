/** The library on a real ledger: changes and what takes them back, room, retention, and what is left on the disk. */
import { expect } from 'chai';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { AudioDirectory } from '../../src/audio-directory.js';
import { Library, TRANSCRIPT_ID } from '../../src/library/library.js';
import type { KeptTranscript } from '../../src/library/document.js';
import type { EditTarget } from '../../src/library/editing.js';
import { transcriptText } from '../../src/library/document.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';
import type { KeepOrder, TranscriptToKeep } from '../../src/transcription/keep.js';
import { ManualTimers } from '../support/manual-timers.js';
import { madeSegment } from './documents.js';

const DAY_MS = 86_400_000;

describe('the library', () => {
  let directory: string;
  let ledger: Ledger;
  let library: Library;
  let timers: ManualTimers;
  let accountId: string;
  let now: number;
  let ids: number;
  const errors: unknown[] = [];

  function open(maxBytes = 1 << 30): Library {
    const audio = new AudioDirectory(join(directory, 'library'), { kind: 'transcript', ids: TRANSCRIPT_ID });
    return new Library({
      ...{ ledger, audio, timers, maxBytes, now: () => now },
      onError: (error) => errors.push(error),
    });
  }
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-library-'));
    now = Date.parse('2026-11-20T12:00:00.000Z');
    ids = 0;
    errors.length = 0;
    ledger = createLedger({ path: join(directory, 'verbatim.db'), secret: 'a secret of tests', clock: () => now });
    timers = new ManualTimers();
    library = open();
    accountId = (await ledger.accounts.create({ email: 'ann@example.com' })).id;
    // The one that every start begins with.
    await library.sweep();
  });
  afterEach(async () => {
    await library.close();
    await ledger.close();
    rmSync(directory, { recursive: true });
    expect(errors).to.deep.equal([]);
  });

  const newId = (): string => `tr_${String(++ids).padStart(22, 'A')}`;
  function transcript(texts: readonly string[], speakers: readonly string[] = []): TranscriptToKeep {
    const segments = texts.map((text, at) => madeSegment(text, at * 10, speakers[at]));
    return {
      ...{ id: newId(), durationSeconds: 100, language: 'en', text: texts.join(' '), model: 'm', translation: null },
      segments,
      words: segments.flatMap(({ words }) => words),
    };
  }
  async function keep(
    made: TranscriptToKeep,
    order: Partial<KeepOrder> = {},
    recording: string | null = null,
  ): Promise<boolean> {
    const whole = {
      keepDays: 30,
      keepsAudio: false,
      title: 'T',
      source: { kind: 'api', name: null },
      ...order,
    } as const;
    const keepNow = await library.keeping.prepare({ accountId, order: whole, transcript: made, audio: recording });
    return keepNow !== null && keepNow();
  }
  async function kept(texts: readonly string[], speakers: readonly string[] = []): Promise<EditTarget> {
    const made = transcript(texts, speakers);
    expect(await keep(made)).to.equal(true);
    return { accountId, id: made.id, version: 1, by: { kind: 'page', name: null } };
  }
  const at = (target: EditTarget, version: number): EditTarget => ({ ...target, version });
  const find = async ({ id }: { id: string }): Promise<KeptTranscript> => (await library.find(accountId, id))!;
  function recording(bytes = 100): string {
    const path = join(directory, 'upload');
    writeFileSync(path, Buffer.alloc(bytes, 1));
    return path;
  }
  const files = (): string[] => {
    const path = join(directory, 'library');
    return existsSync(path) ? readdirSync(path) : [];
  };

  describe('changes', () => {
    it('take each other back, the newest first, and leave the original and who made them', async () => {
      const target = await kept(['one two', 'three'], ['S1', 'S2']);
      const { editing } = library;
      await editing.edit(at(target, 1), { segments: [{ index: 0, text: 'one too' }] });
      await editing.edit(at(target, 2), { speakers: { S1: 'Ada' }, title: 'New' });
      await editing.note(at(target, 3), { atSeconds: 4, text: 'Ask.' });
      const full = await find(target);
      expect(full.document.notes).to.have.length(1);
      const undo = async (version: number): Promise<KeptTranscript> => (await editing.undo(at(target, version)))!;
      expect((await undo(4)).document.notes).to.deep.equal([]);
      const third = await undo(5);
      expect(third.stored).to.deep.include({ title: 'T', version: 6 });
      expect(third.document.names).to.deep.equal({});
      const first = await undo(6);
      expect(transcriptText(first.document)).to.equal('one two three');
      expect(first.document.segments).to.deep.equal((await library.original(accountId, target.id))!.segments);
      // There is nothing left to take back.
      expect((await undo(7)).stored.version).to.equal(7);
      const changes = await library.changes(accountId, target.id, { limit: 10, before: null });
      expect(changes.map(({ version }) => version)).to.deep.equal([7, 6, 5, 4, 3, 2]);
      expect(changes.every(({ change }) => (change as { by: { kind: string } }).by.kind === 'page')).to.equal(true);
    });

    it('make two speakers one: merged, or by the same name', async () => {
      const merged = await kept(['a', 'b', 'c'], ['S1', 'S2', 'S3']);
      const { document } = (await library.editing.mergeSpeakers(merged, { from: 'S3', into: 'S1' }))!;
      expect(document.segments.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S2', 'S1']);
      const named = await kept(['a', 'b', 'c'], ['S1', 'S2', 'S3']);
      const after = (await library.editing.edit(named, { speakers: { S2: 'Ada', S3: 'Ada' } }))!;
      expect(after.document.segments.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S2', 'S2']);
      expect(after.stored.speakers).to.deep.equal(['S1', 'Ada']);
      const swapped = await kept(['a', 'b'], ['S1', 'S2']);
      await library.editing.edit(swapped, { speakers: { S1: 'Bob', S2: 'Ada' } });
      const again = (await library.editing.edit(at(swapped, 2), { speakers: { S1: 'Ada', S2: 'Bob' } }))!;
      expect(again.stored.speakers).to.deep.equal(['Ada', 'Bob']);
    });

    it('replace a text wherever it stands, whatever marks it has', async () => {
      const target = await kept(['C++ and c++', 'nothing', 'more C++.']);
      const done = (await library.editing.replace(target, { find: 'c++', replaceWith: 'Rust$1' }))!;
      expect(done.count).to.equal(3);
      expect(done.transcript.document.segments.map(({ text }) => text)).to.deep.equal([
        ...['Rust$1 and Rust$1', 'nothing', 'more Rust$1.'],
      ]);
      const cased = await kept(['Art of the artist']);
      const whole = { find: 'art', replaceWith: 'X', wholeWords: true };
      expect((await library.editing.replace(cased, { ...whole, matchCase: true }))!.count).to.equal(0);
      const { transcript: found } = (await library.editing.replace(cased, whole))!;
      expect(transcriptText(found.document)).to.equal('X of the artist');
    });
  });

  describe('room', () => {
    it('is bounded: what does not fit is not kept, and its recording does not stay', async () => {
      await library.close();
      library = open(3000);
      expect(await keep(transcript(['short']))).to.equal(true);
      const path = recording(5000);
      expect(await keep(transcript(['with audio']), { keepsAudio: true }, path)).to.equal(false);
      expect(files()).to.deep.equal([]);
      let fits = true;
      for (let count = 0; fits && count < 50; count++) fits = await keep(transcript(['word '.repeat(20).trim()]));
      expect(fits).to.equal(false);
      const { bytes, maxBytes } = await library.usage(accountId);
      expect(bytes).to.be.at.most(maxBytes);
    });
  });

  describe('retention', () => {
    it('deletes what has expired, with its recording; the rest stays', async () => {
      const [short, long, ever] = [transcript(['a']), transcript(['b']), transcript(['c'])];
      await keep(short, { keepDays: 1, keepsAudio: true }, recording());
      await keep(long, { keepDays: 30, keepsAudio: true }, recording());
      await keep(ever, { keepDays: null, keepsAudio: true }, recording());
      expect(files()).to.have.members([short.id, long.id, ever.id]);
      now += 2 * DAY_MS;
      // It is not shown any more, though it lies there still.
      expect(await library.find(accountId, short.id)).to.equal(null);
      await library.sweep();
      expect(files()).to.have.members([long.id, ever.id]);
      now += 40 * DAY_MS;
      timers.pass(60_000);
      await library.sweep();
      expect(files()).to.deep.equal([ever.id]);
      expect(
        (await library.list(accountId, { words: null, limit: 9, after: null })).map(({ stored }) => stored.id),
      ).to.deep.equal([ever.id]);
    });

    it('removes recordings that belong to nothing once they are old, and leaves other files alone', async () => {
      mkdirSync(join(directory, 'library'), { recursive: true });
      const [orphan, fresh] = [newId(), newId()];
      for (const name of [orphan, fresh, 'notes.txt']) writeFileSync(join(directory, 'library', name), 'x');
      utimesSync(join(directory, 'library', orphan), now / 1000 - 3600, now / 1000 - 3600);
      utimesSync(join(directory, 'library', fresh), now / 1000, now / 1000);
      await library.sweep();
      expect(files()).to.have.members([fresh, 'notes.txt']);
    });
  });

  describe('documents for word processors', () => {
    it('have the title, the speakers and the text, as text', async () => {
      const target = await kept(['=cmd|calc & "x" <w:instrText>', 'Fine.'], ['S1', 'S2']);
      await library.editing.edit(target, { speakers: { S1: '@Ada' }, title: '{ DDEAUTO c:\\x }' });
      const { body } = await library.export(await find(target), 'docx');
      const xml = partOf(body as Buffer, 'word/document.xml');
      expect(xml)
        .to.contain('=cmd|calc &amp; &quot;x&quot; &lt;w:instrText&gt;')
        .and.to.contain('@Ada')
        .and.to.contain('DDEAUTO');
      for (const field of ['<w:instrText', '<w:fldSimple', '<w:hyperlink', '<w:fldChar']) {
        expect(xml, field).not.to.contain(field);
      }
    });
  });
});

/** A file in a zip archive, by its local header; the archive of docx has no encryption. */
function partOf(zip: Buffer, name: string): string {
  let at = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let entry = zip.readUInt32LE(at + 16);
  for (let count = zip.readUInt16LE(at + 10); count > 0; count--) {
    const [nameBytes, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(entry + offset));
    const found = zip.toString('utf8', entry + 46, entry + 46 + nameBytes!);
    at = zip.readUInt32LE(entry + 42);
    if (found === name) {
      const start = at + 30 + zip.readUInt16LE(at + 26) + zip.readUInt16LE(at + 28);
      const bytes = zip.subarray(start, start + zip.readUInt32LE(entry + 20));
      return (zip.readUInt16LE(entry + 10) === 0 ? bytes : inflateRawSync(bytes)).toString('utf8');
    }
    entry += 46 + nameBytes! + extra! + comment!;
  }
  throw new Error(`The archive has no ${name}.`);
}
