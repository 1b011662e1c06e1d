/** The service on a disk whose syncs fail: nobody pays for an answer that is not on it, nor gets such an event. */
import { expect } from 'chai';
import { endedJob, jobCall, postJob } from '../support/jobs.js';
import { EventReader } from '../support/event-reader.js';
import { fakeAudio } from '../support/fake-engine.js';
import { call, form, transcribe } from '../support/requests.js';
import { bearer, TestServer, type Customer } from '../support/server.js';
import { until } from '../support/until.js';

describe('a disk that fails', () => {
  let server: TestServer;
  let customer: Customer;
  let fails: boolean;
  let errors: unknown[];

  beforeEach(async () => {
    fails = false;
    errors = [];
    const syncFile = (): Promise<void> =>
      fails ? Promise.reject(Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' })) : Promise.resolve();
    server = await TestServer.start({ ledgerOptions: { syncFile, onError: (error) => errors.push(error) } });
    customer = await server.customer();
  });
  afterEach(async () => {
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  const isReady = async (): Promise<boolean> => (await call(server, '/readyz')).status === 200;

  it('charges nothing for the request whose charge it refuses, and turns others away at once', async () => {
    fails = true;
    const headers = { 'idempotency-key': 'k' };
    const refused = await transcribe(server, { key: customer.key, headers });
    expect(refused.status, refused.text).to.equal(503);
    expect(refused.error).to.include({ code: 'overloaded', param: null });
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(errors).to.have.nested.property('[0].code', 'EIO');
    expect(await server.balance(customer)).to.equal(100);
    const ready = await call(server, '/readyz');
    expect(ready.status).to.equal(503);
    expect(ready.body).to.have.nested.property('checks.database_writable', false);
    expect((await transcribe(server, { key: customer.key })).error?.code).to.equal('overloaded');
    fails = false;
    await until(isReady);
    const answered = await transcribe(server, { key: customer.key, headers });
    expect([answered.status, answered.headers.get('idempotency-replayed')]).to.deep.equal([200, null]);
    const replayed = await transcribe(server, { key: customer.key, headers });
    expect(replayed.body).to.deep.equal(answered.body);
    expect(await server.balance(customer)).to.equal(99);
  });

  it('ends a stream that has begun with an error event', async () => {
    server.engine.holdAll(1);
    const body = form([
      ['file', fakeAudio(180)],
      ['model', 'whisper-1'],
      ['stream', 'true'],
    ]);
    const stream = await EventReader.open(server, '/v1/audio/transcriptions', {
      ...{ method: 'POST', headers: bearer(customer.key), body },
    });
    expect((await stream.next())?.event).to.equal('transcript.text.delta');
    fails = true;
    server.engine.release();
    const last = (await stream.rest()).at(-1);
    expect(last?.event).to.equal('error');
    expect(last?.data).to.have.nested.property('error.code', 'overloaded');
    expect(await server.balance(customer)).to.equal(100);
    fails = false;
    await until(isReady);
  });

  it('keeps a job running that is done, and ends it once when it can be charged', async () => {
    server.engine.holdAll();
    const { body } = await postJob(server, customer.key);
    const id = String(body['id']);
    await server.engine.untilRunning(1);
    fails = true;
    server.engine.release();
    await until(async () => !(await isReady()), 'the charge fails');
    expect((await jobCall(server, customer.key, `/${id}`)).body).to.include({ status: 'running', finished_at: null });
    expect((await postJob(server, customer.key)).error?.code).to.equal('overloaded');
    fails = false;
    expect(await endedJob(server, customer.key, id)).to.include({ status: 'succeeded' });
    expect(await server.balance(customer)).to.equal(99);
    const entries = await server.ledger.history.charged(customer.account.id, { limit: 10, before: null });
    expect(entries).to.have.length(1);
  });
});
