/** Any sequence of what is done with kept transcripts leaves them as a plain model of them. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Ledger } from '../../src/ledger/ledger.js';
import { TRANSCRIPT_SOURCES, type NewTranscript, type StoredTranscript } from '../../src/ledger/transcripts.js';
import { DAY_MS } from '../../src/ledger/time.js';
import { describeLedger, SQLITE } from './backends.js';
import { Bench, customer, FileBench } from './support.js';
import { listTranscripts, ROOM, transcript } from './transcript-support.js';

/** Few, so that they meet; some begin alike. */
const WORDS = ['alpha', 'alps', 'alp', 'beta', 'be', 'gamma', 'delta', 'omega', 'x', '北京', '京都'];
const LANGUAGES = ['en', 'de'];
const NAMES = ['Ada', 'Bo', 'S1'];

const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 4 });
const texts = fc.array(words, { maxLength: 4 });
const speakers = fc.subarray(NAMES);

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('keep' as const),
      ...{ of: fc.nat(1), title: words, texts, speakers, language: fc.constantFrom(...LANGUAGES) },
      ...{ source: fc.constantFrom(...TRANSCRIPT_SOURCES), keepDays: fc.option(fc.integer({ min: 1, max: 9 })) },
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      ...{ pick: fc.nat(), stale: fc.boolean(), title: fc.option(words), speakers: fc.option(speakers) },
      texts: fc.option(texts),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), pick: fc.nat(), of: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), days: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('search' as const),
      ...{ of: fc.nat(1), words: fc.array(fc.constantFrom(...WORDS, 'al', 'bet', 'gam', '北'), { maxLength: 3 }) },
      ...{ language: fc.option(fc.constantFrom(...LANGUAGES)), speaker: fc.option(fc.constantFrom(...NAMES)) },
      ...{ source: fc.option(fc.constantFrom(...TRANSCRIPT_SOURCES)), limit: fc.integer({ min: 1, max: 5 }) },
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Of<K extends Step['kind']> = Extract<Step, { kind: K }>;

/** One transcript of the model. */
interface Known {
  given: NewTranscript;
  version: number;
  expiresAt: number | null;
}

/** Two accounts, and what each of them keeps. */
class Library {
  readonly known: Known[] = [];

  constructor(
    private readonly bench: Bench,
    private readonly ledger: Ledger,
    private readonly accounts: readonly string[],
  ) {}

  async do(step: Step): Promise<void> {
    switch (step.kind) {
      case 'keep':
        return this.#keep(step);
      case 'update':
        return this.#update(step);
      case 'delete':
        return this.#delete(step);
      case 'search':
        return this.#search(step);
      case 'sweep':
        return this.#sweep(step.limit);
      case 'wait':
        this.bench.now += step.days * DAY_MS;
    }
  }

  /** That all is as the model has it. */
  async check(): Promise<void> {
    for (const accountId of this.accounts) {
      const listed = (await listTranscripts(this.ledger.transcripts, accountId)).map((hit) => hit.transcript);
      expect(listed.map(comparable)).to.deep.equal(this.#living(accountId).map(expected));
      const kept = this.known.filter(({ given }) => given.accountId === accountId);
      const { transcripts, bytes } = await this.ledger.transcripts.usage(accountId);
      expect(transcripts).to.equal(kept.length);
      const stored = await this.bench.rows<{ bytes: number | null }>(
        `SELECT sum(audio_bytes + content_bytes) AS bytes FROM transcripts WHERE account_id = '${accountId}'`,
      );
      expect(bytes).to.equal(Number(stored[0]!.bytes));
    }
    if (!(this.bench instanceof FileBench)) return;
    this.bench.raw((database) => {
      database.exec(`INSERT INTO transcript_search_index (transcript_search_index) VALUES ('integrity-check')`);
    });
  }

  async #keep({ of, title, texts: spoken, keepDays, source, language, speakers: names }: Of<'keep'>): Promise<void> {
    const given = transcript(this.accounts[of]!, {
      ...{ language, speakers: names, source: { kind: source, name: null } },
      ...{ title: title.join(' '), keepDays, audioBytes: 3 },
      ...{ content: spoken, searchTexts: spoken.map((text) => text.join(' ')) },
    });
    expect(await this.ledger.transcripts.keep(given, ROOM)).to.equal('kept');
    const expiresAt = keepDays === null ? null : this.bench.now + keepDays * DAY_MS;
    this.known.unshift({ given, version: 1, expiresAt });
  }

  async #update({ pick, stale, title, speakers: names, texts: spoken }: Of<'update'>): Promise<void> {
    const known = this.known[pick % Math.max(1, this.known.length)];
    if (known === undefined) return;
    const { accountId, id } = known.given;
    const searchTexts = spoken?.map((text) => text.join(' ')) ?? [];
    const update = {
      ...{ version: known.version + (stale ? 1 : 0), change: { n: known.version } },
      ...(title === null ? {} : { title: title.join(' ') }),
      ...(names === null ? {} : { speakers: names }),
      ...(spoken === null ? {} : { text: { content: spoken, searchTexts, translationLanguage: 'fr' } }),
    };
    const updated = await this.ledger.transcripts.update(accountId, id, update, ROOM);
    if (!this.#isLiving(known)) return void expect(updated).to.equal(null);
    if (stale) return void expect(updated).to.equal('conflict');
    known.version += 1;
    known.given = {
      ...{ ...known.given, title: update.title ?? known.given.title, speakers: names ?? known.given.speakers },
      ...(spoken === null ? {} : { content: spoken, searchTexts, translationLanguage: 'fr' }),
    };
    expect(comparable(updated as StoredTranscript)).to.deep.equal(expected(known));
    const stored = await this.ledger.transcripts.content(accountId, id);
    expect(JSON.parse(stored!.content.text)).to.deep.equal(known.given.content);
  }

  async #delete({ pick, of }: Of<'delete'>): Promise<void> {
    const index = pick % Math.max(1, this.known.length);
    const known = this.known[index];
    if (known === undefined) return;
    const deleted = await this.ledger.transcripts.delete(this.accounts[of]!, known.given.id);
    if (known.given.accountId !== this.accounts[of]) return void expect(deleted).to.equal(null);
    expect(deleted?.id).to.equal(known.given.id);
    this.known.splice(index, 1);
  }

  async #sweep(limit: number): Promise<void> {
    const expired = this.known.filter((known) => !this.#isLiving(known)).map(({ given }) => given.id);
    const deleted = (await this.ledger.transcripts.deleteExpired(limit)).map(({ id }) => id);
    expect(deleted).to.have.length(Math.min(limit, expired.length));
    expect(expired).to.include.members(deleted);
    const left = this.known.filter(({ given }) => !deleted.includes(given.id));
    this.known.splice(0, this.known.length, ...left);
  }

  async #search({ of, words: sought, language, speaker, source, limit }: Of<'search'>): Promise<void> {
    const accountId = this.accounts[of]!;
    const query = { words: sought.join(' '), language, speaker, source, limit };
    const hits = await listTranscripts(this.ledger.transcripts, accountId, query);
    const asked = this.#living(accountId).filter(
      ({ given }) =>
        (language === null || given.language === language) &&
        (speaker === null || given.speakers.includes(speaker)) &&
        (source === null || given.source.kind === source),
    );
    const whole = asked.filter(({ given }) => hasAll(given, sought, false));
    const found = whole.length > 0 ? whole : asked.filter(({ given }) => hasAll(given, sought, true));
    expect(hits.map((hit) => hit.transcript.id)).to.deep.equal(found.slice(0, limit).map(({ given }) => given.id));
  }

  #living(accountId: string): Known[] {
    return this.known.filter((known) => known.given.accountId === accountId && this.#isLiving(known));
  }

  #isLiving({ expiresAt }: Known): boolean {
    return expiresAt === null || expiresAt > this.bench.now;
  }
}

/** Every word; the last of three letters may be a beginning, and one Chinese letter is found anywhere. */
function hasAll(
  { title, speakers: names, searchTexts }: NewTranscript,
  sought: readonly string[],
  isBegun: boolean,
): boolean {
  const there = [title, ...names, ...searchTexts].flatMap((text) => text.toLowerCase().split(' '));
  return sought.every((word, index) => {
    if (/\p{Script=Han}/u.test(word)) return there.some((other) => other.includes(word));
    const mayGoOn = isBegun && index === sought.length - 1 && word.length >= 3;
    return there.some((other) => (mayGoOn ? other.startsWith(word) : other === word));
  });
}

function comparable(stored: StoredTranscript): unknown {
  const { id, accountId, version, title, speakers: names, language, translationLanguage, source, expiresAt } = stored;
  return [id, accountId, version, title, names, language, translationLanguage, source.kind, expiresAt];
}

function expected({ given, version, expiresAt }: Known): unknown {
  const { id, accountId, title, speakers: names, language, translationLanguage, source } = given;
  const end = expiresAt === null ? null : new Date(expiresAt).toISOString();
  return [id, accountId, version, title, names, language, translationLanguage, source.kind, end];
}

describeLedger('ledger: any use of kept transcripts', (backend) => {
  it('leaves what a plain model has: rows, pages, bytes, hits', async function () {
    this.timeout(300_000);
    const bench = backend === SQLITE ? new FileBench('/dev/shm') : new Bench(backend);
    try {
      const ledger = await bench.server();
      let accounts = 0;
      const run = async (steps: readonly Step[]): Promise<void> => {
        const [ann, bob] = [
          await customer(ledger, `${accounts++}@example.com`),
          await customer(ledger, `${accounts++}@example.com`),
        ];
        const library = new Library(bench, ledger, [ann.account.id, bob.account.id]);
        for (const step of steps) await library.do(step);
        await library.check();
        for (const { given } of library.known) await ledger.transcripts.delete(given.accountId, given.id);
      };
      await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), run), {
        numRuns: backend === SQLITE ? 100 : 30,
      });
    } finally {
      await bench.dispose();
    }
  });
});
