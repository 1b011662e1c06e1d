/** Whatever is asked of kept transcripts is answered from an index. */
import type Database from 'better-sqlite3';
import { expect } from 'chai';
import { SearchIndex } from '../../src/ledger/sqlite/search-index.js';
import { TranscriptShares } from '../../src/ledger/sqlite/transcript-shares.js';
import { TranscriptTable } from '../../src/ledger/sqlite/transcript-table.js';
import type { Transactions } from '../../src/ledger/sqlite/transactions.js';
import { describeOnSqlite } from './backends.js';
import { FileBench } from './support.js';

/** Of what is no table of rows: ids that were given, full-text matches, segments of an index, what is to be erased. */
const SCANNED =
  /^SCAN (json_each|removed|(found|transcript_search_index) VIRTUAL TABLE INDEX \d+:[M=]|segments|CONSTANT ROW|.* USING INDEX transcript_search_to_erase$)/;

describeOnSqlite('ledger: kept transcripts on SQLite', () => {
  let bench: FileBench;
  beforeEach(async () => {
    bench = new FileBench();
    await bench.server();
  });
  afterEach(() => bench.dispose());

  /** Each statement that they run, and the steps of its plan. */
  function plans(): [string, string[]][] {
    return bench.raw((database) => {
      const executed: string[] = [];
      const prepare = (sql: string): Database.Statement => {
        executed.push(sql);
        return database.prepare(sql);
      };
      const recording = { prepare } as Database.Database;
      new TranscriptTable(recording);
      new SearchIndex(recording);
      new TranscriptShares(recording, { transactions: {} as Transactions, clock: Date.now });
      return executed.map((sql) => {
        const unnamed = sql.replaceAll(/@\w+/g, '?');
        const steps = database.prepare<string[], { detail: string }>(`EXPLAIN QUERY PLAN ${unnamed}`);
        return [sql, steps.all(...Array.from(unnamed.matchAll(/\?/g), () => '')).map(({ detail }) => detail)];
      });
    });
  }

  it('read no table from end to end', () => {
    const asked = plans();
    expect(asked).to.have.length.above(25);
    for (const [sql, steps] of asked) {
      const scans = steps.filter((step) => step.startsWith('SCAN') && !SCANNED.test(step));
      expect(scans, sql).to.deep.equal([]);
    }
  });

  it('are listed, and searched, in the order of the index', () => {
    const sorted = plans().filter(([, steps]) => steps.some((step) => step.includes('TEMP B-TREE')));
    expect(
      sorted.map(([sql]) => sql).filter((sql) => /transcript_search_index MATCH|'' AS tokens/.test(sql)),
    ).to.deep.equal([]);
    const [, list] = plans().find(([sql]) => sql.includes("'' AS tokens"))!;
    expect(list).to.deep.equal([
      'SEARCH transcripts USING INDEX transcripts_of_account (account_id=? AND place>? AND place<?)',
    ]);
    const [, search] = plans().find(([sql]) => sql.includes('transcript_search_index MATCH'))!;
    expect(search).to.have.length(3);
    expect(search[0]).to.match(/^SCAN found VIRTUAL TABLE INDEX \d+:.*M/);
    expect(search.slice(1)).to.deep.equal([
      'SEARCH transcripts USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH transcript_search USING INTEGER PRIMARY KEY (rowid=?)',
    ]);
  });
});
