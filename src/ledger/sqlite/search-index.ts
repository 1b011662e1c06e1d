import type Database from 'better-sqlite3';

/** FTS5 puts it before each word. */
const MARK = '0';
/** That are erased in one turn of the event loop. */
const WORDS_AT_ONCE = 128;

interface Boundary {
  segid: number;
  term: Buffer;
  pgno: number;
  block: Buffer;
}

/**
 * The words of the transcripts, in FTS5. It overwrites a deleted word in its pages (`secure-delete`), but a page may
 * have begun with that word, and is still found by it: that copy is replaced by the word with which the page begins
 * now. Each word of a long transcript costs some of the event loop's time, so that an update changes only the words
 * that differ, and those of a deleted one are erased some at a time. Callers hold the write transaction.
 */
export class SearchIndex {
  readonly #statements;

  constructor(private readonly database: Database.Database) {
    this.#statements = prepare(database);
  }

  insert(place: number, tokens: string): void {
    this.#statements.insert.run(place, tokens);
    this.#statements.add.run(place, wordsIn(tokens).join(' '));
  }

  /** '' when there are none. */
  tokens(place: number): string {
    return this.#statements.tokens.get(place) ?? '';
  }

  update(place: number, tokens: string): void {
    const before = wordsIn(this.tokens(place));
    const after = wordsIn(tokens);
    const [known, kept] = [new Set(before), new Set(after)];
    const removed = before.filter((word) => !kept.has(word));
    this.#statements.update.run(tokens, place);
    this.#exchange(
      place,
      removed,
      after.filter((word) => !known.has(word)),
    );
    this.#renewBoundaries(removed);
  }

  /** Of a transcript that is deleted in the same transaction: eraseSome() erases its words. */
  delete(place: number): void {
    this.#statements.markErased.run(wordsIn(this.tokens(place)).join(' '), place);
  }

  /** Some words of deleted transcripts; true when there may be more. */
  eraseSome(): boolean {
    const removed: string[] = [];
    while (removed.length < WORDS_AT_ONCE) {
      const erased = this.#statements.nextErased.get();
      if (erased === undefined) break;
      const { place } = erased;
      const words = wordsIn(erased.tokens);
      const some = words.slice(0, WORDS_AT_ONCE - removed.length);
      if (some.length === words.length) {
        this.#statements.remove.run(place, some.join(' '));
        this.#statements.delete.run(place);
      } else {
        this.#exchange(place, some, []);
        this.#statements.update.run(words.slice(some.length).join(' '), place);
      }
      removed.push(...some);
    }
    this.#renewBoundaries(removed);
    return removed.length > 0;
  }

  /** FTS5 counts a row less with what is removed, and one more with what is added. */
  #exchange(place: number, removed: readonly string[], added: readonly string[]): void {
    this.#statements.remove.run(place, removed.join(' '));
    this.#statements.add.run(place, added.join(' '));
  }

  #renewBoundaries(removed: readonly string[]): void {
    if (removed.length === 0) return;
    // At a savepoint FTS5 writes what it has in memory.
    this.database.exec('SAVEPOINT written; RELEASE written');
    const stale = this.#statements.boundaries
      .all(JSON.stringify(removed.map((word) => MARK + word)))
      .map((boundary) => ({ ...boundary, first: firstTerm(boundary.block) }))
      .filter(({ term, first }) => first !== null && !first.equals(term));
    if (stale.length === 0) return;
    // The driver lets nobody write into the tables of an index otherwise.
    this.database.unsafeMode(true);
    try {
      const renew = this.database.prepare<[Buffer | null, number, Buffer]>(
        'UPDATE transcript_search_index_idx SET term = ? WHERE segid = ? AND term = ?',
      );
      for (const { segid, term, first } of stale) renew.run(first, segid, term);
    } finally {
      this.database.unsafeMode(false);
    }
  }
}

function wordsIn(tokens: string): string[] {
  return Array.from(new Set(tokens.split(/[ \n]+/))).filter((word) => word !== '');
}

/**
 * Of a leaf page of FTS5: two bytes, the length of its body (two bytes), the rest of the body; then the place of its
 * first term, as a variable-length number; there stand the term's length and the term. null: it has none.
 */
function firstTerm(page: Buffer): Buffer | null {
  const body = page.readUInt16BE(2);
  if (page.length <= body) return null;
  const [place] = variableLength(page, body);
  const [length, begin] = variableLength(page, place);
  return page.subarray(begin, begin + length);
}

/** A number below 2^21, which those within a page are, and where it ends. */
function variableLength(page: Buffer, at: number): [number, number] {
  let value = 0;
  for (let next = at; ; next += 1) {
    const byte = page.readUInt8(next);
    value = (value << 7) | (byte & 0x7f);
    if (byte < 0x80) return [value, next + 1];
  }
}

function prepare(database: Database.Database) {
  return {
    insert: database.prepare<[number, string]>('INSERT INTO transcript_search (place, tokens) VALUES (?, ?)'),
    tokens: database.prepare<[number], string>('SELECT tokens FROM transcript_search WHERE place = ?').pluck(),
    update: database.prepare<[string, number]>('UPDATE transcript_search SET tokens = ? WHERE place = ?'),
    markErased: database.prepare<[string, number]>(
      'UPDATE transcript_search SET tokens = ?, is_erased = 1 WHERE place = ?',
    ),
    nextErased: database.prepare<[], { place: number; tokens: string }>(
      'SELECT place, tokens FROM transcript_search WHERE is_erased = 1 LIMIT 1',
    ),
    delete: database.prepare<[number]>('DELETE FROM transcript_search WHERE place = ?'),
    add: database.prepare<[number, string]>('INSERT INTO transcript_search_index (rowid, words) VALUES (?, ?)'),
    remove: database.prepare<[number, string]>(
      `INSERT INTO transcript_search_index (transcript_search_index, rowid, words) VALUES ('delete', ?, ?)`,
    ),
    // Each segment is asked for each word: the table of boundaries may be long.
    boundaries: database.prepare<[string], Boundary>(
      `WITH RECURSIVE segments (segid) AS (
         SELECT min(segid) FROM transcript_search_index_idx
         UNION ALL
         SELECT (SELECT min(idx.segid) FROM transcript_search_index_idx idx WHERE idx.segid > segments.segid)
         FROM segments WHERE segments.segid IS NOT NULL)
       SELECT idx.segid, idx.term, idx.pgno, page.block
       FROM segments CROSS JOIN json_each(?) AS removed
         CROSS JOIN transcript_search_index_idx idx
           ON idx.segid = segments.segid AND idx.term = CAST(removed.value AS BLOB)
         CROSS JOIN transcript_search_index_data page ON page.id = (idx.segid << 37) + (idx.pgno >> 1)`,
    ),
  };
}
