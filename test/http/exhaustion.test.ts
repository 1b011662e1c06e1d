/** What the machine may run out of: the client is asked to come back, and nothing is charged or left behind. */
import fs from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { fakeAudio } from '../support/fake-engine.js';
import { transcribe, type Answer } from '../support/requests.js';
import { TestServer, type Customer } from '../support/server.js';
import { until } from '../support/until.js';

describe('a machine that has run out of something', () => {
  let server: TestServer;
  let customer: Customer;

  beforeEach(async () => {
    server = await TestServer.start();
    customer = await server.customer();
  });
  afterEach(() => server.dispose());

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

  it('a full disk, in the middle of an upload', async () => {
    const { createWriteStream } = fs;
    // The kernel's own full disk: every write to it fails with ENOSPC.
    fs.createWriteStream = () => createWriteStream('/dev/full');
    try {
      const large = Buffer.concat([fakeAudio(3), Buffer.alloc(5_000_000)]);
      const answer = await transcribe(server, { key: customer.key, parts: [['audio', large]] });
      fs.createWriteStream = createWriteStream;
      await expectRefusal(answer, 'ENOSPC');
    } finally {
      fs.createWriteStream = createWriteStream;
    }
  });

  it('a full disk, when the request is to be charged', async () => {
    const { ledger } = server;
    const settle = ledger.settle.bind(ledger);
    ledger.settle = () => {
      throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL');
    };
    const answer = await transcribe(server, { key: customer.key, headers: { 'idempotency-key': 'k' } });
    ledger.settle = settle;
    await expectRefusal(answer, 'SQLITE_FULL');
  });
});
