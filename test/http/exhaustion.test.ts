/** What the machine may run out of: the client is asked to come back, and nothing is charged or left behind. */
import fs from 'node:fs';
import type BetterSqlite from 'better-sqlite3';
import { Database } from '../../src/ledger/sqlite/driver.js';
import { expect } from 'chai';
import { fakeAudio } from '../support/fake-engine.js';
import { transcribe, type Answer } from '../support/requests.js';
import { TestServer, type Customer } from '../support/server.js';
import { until } from '../support/until.js';

describe('a machine that has run out of something', () => {
  let server: TestServer;
  let customer: Customer;
  /** That the server has opened. */
  let databases: Set<BetterSqlite.Database>;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called on what it is called on here
  const { prepare } = Database.prototype;

  beforeEach(async () => {
    databases = new Set();
    Database.prototype.prepare = function (this: BetterSqlite.Database, source: string) {
      databases.add(this);
      return prepare.call(this, source);
    } as typeof prepare;
    server = await TestServer.start();
    customer = await server.customer();
  });
  afterEach(async () => {
    Database.prototype.prepare = prepare;
    await server.dispose();
  });

  async function expectRefusal(answer: Answer, code: string): Promise<void> {
    expect(answer.status, answer.text).to.equal(503);
    expect(answer.error).to.include({ code: 'overloaded', param: null });
    expect(answer.headers.get('retry-after')).to.equal('1');
    const logged = server.logs.find((line) => line['msg'] === 'request failed');
    expect(logged).to.have.nested.property('err.code', code);
    expect(server.uploads()).to.deep.equal([]);
    await until(async () => (await server.balance(customer)) === 100);
    expect(server.engine).to.include({ openFiles: 0, admitted: 0, running: 0 });
    expect(await server.ledger.audit()).to.deep.equal([]);
    const again = await transcribe(server, { key: customer.key, headers: { 'idempotency-key': 'k' } });
    expect(again.status).to.equal(200);
  }

  /** A disk that takes so many bytes of the upload; the kernel itself refuses what follows, with ENOSPC. */
  async function withFullDisk(bytes: number, work: (written: () => number) => Promise<void>): Promise<void> {
    const { createWriteStream } = fs;
    const full = fs.openSync('/dev/full', 'w');
    let written = 0;
    const systemWrite = fs.write as (fd: number, buffer: Uint8Array, ...more: unknown[]) => void;
    const write = (fd: number, buffer: Uint8Array, ...more: unknown[]): void => {
      const fits = written + buffer.length <= bytes;
      if (fits) written += buffer.length;
      systemWrite(fits ? fd : full, buffer, ...more);
    };
    fs.createWriteStream = (path, options) =>
      createWriteStream(path, { ...(options as object), fs: { ...fs, write, writev: undefined } } as never);
    try {
      await work(() => written);
    } finally {
      fs.createWriteStream = createWriteStream;
      fs.closeSync(full);
    }
  }

  it('a full disk, in the middle of an upload', async () => {
    const large = Buffer.concat([fakeAudio(3), Buffer.alloc(5_000_000)]);
    let answer: Answer | undefined;
    await withFullDisk(1_000_000, async (written) => {
      answer = await transcribe(server, { key: customer.key, parts: [['audio', large]] });
      expect(written()).to.be.above(500_000);
    });
    await expectRefusal(answer!, 'ENOSPC');
  });

  it('a full disk, when the request is to be charged', async () => {
    const { ledger } = server;
    const settle = ledger.holds.settle.bind(ledger.holds);
    server.engine.repeats = 10_000;
    // SQLite's own refusal: the file may not grow any more, and its free pages do not hold the answer.
    ledger.holds.settle = (...call) => {
      for (const database of databases) {
        database.pragma('max_page_count = 1');
        const free = database.pragma('freelist_count', { simple: true }) as number;
        const pageBytes = database.pragma('page_size', { simple: true }) as number;
        expect(JSON.stringify(call[1].result).length).to.be.above((free + 2) * pageBytes);
      }
      return settle(...call);
    };
    const answer = await transcribe(server, {
      key: customer.key,
      headers: { 'idempotency-key': 'k' },
      parts: [['audio', fakeAudio(3, { text: 'word ' })]],
    });
    ledger.holds.settle = settle;
    server.engine.repeats = 1;
    for (const database of databases) database.pragma('max_page_count = 1000000');
    await expectRefusal(answer, 'SQLITE_FULL');
  });
});
