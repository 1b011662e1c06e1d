import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Metrics } from '../../../src/http/monitoring/metrics.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { call, transcribe } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

describe('probes, metrics and logs', () => {
  let server: TestServer;
  let customer: Customer;

  beforeEach(async () => {
    server = await TestServer.start();
    customer = await server.customer();
  });
  afterEach(() => server.dispose());

  it('/healthz', async () => {
    const { status, body } = await call(server, '/healthz');
    expect(status).to.equal(200);
    expect(body).to.deep.equal({ status: 'ok' });
  });

  describe('/readyz', () => {
    it('names the device in use', async () => {
      const { status, body } = await call(server, '/readyz');
      expect(status).to.equal(200);
      expect(body).to.deep.equal({
        status: 'ready',
        model: 'fake',
        demonstration: false,
        device: { ids: ['cpu'], name: 'Fake CPU' },
        next_model: null,
        checks: {
          model_loaded: true,
          database_writable: true,
          uploads_writable: true,
          accepting_requests: true,
        },
      });
    });

    it('is 503 when uploads cannot be written', async () => {
      const [directory] = readdirSync(server.directory).filter((name) => name.startsWith('verbatim-upload'));
      rmSync(join(server.directory, directory!), { recursive: true });
      writeFileSync(join(server.directory, directory!), 'in the way');
      const { status, body, error } = await call(server, '/readyz');
      expect(status).to.equal(503);
      expect(body['checks']).to.include({ uploads_writable: false, database_writable: true });
      expect(error).to.include({ code: 'overloaded' });
    });

    it('says so when the model is a demonstration', async () => {
      server.engine.info.isDemonstration = true;
      const { body } = await call(server, '/readyz');
      expect(body).to.include({ demonstration: true });
    });

    it('is 503 when the database cannot be written', async () => {
      const failing = { checkWritable: () => expect.fail('read-only file system') };
      Object.assign(server.ledger, failing);
      const { status, body, error, headers } = await call(server, '/readyz');
      expect(status).to.equal(503);
      expect(body).to.deep.include({ status: 'unavailable' });
      expect(body['checks']).to.include({ database_writable: false, accepting_requests: true });
      expect(error).to.include({ code: 'overloaded', request_id: headers.get('x-request-id')! });
      expect(headers.get('retry-after')).to.equal('1');
    });
  });

  describe('/metrics', () => {
    it('counts requests by route, method and status, and names nobody', async () => {
      await call(server, '/api/v1/me', { headers: bearer(customer.key) });
      await call(server, '/api/v1/me');
      await call(server, '/secret/path?with=query');
      await call(server, `/api/v1/keys/${customer.key.id}`, {
        method: 'DELETE',
        headers: bearer(customer.managementKey),
      });
      const { status, headers, text } = await call(server, '/metrics');
      expect(status).to.equal(200);
      expect(headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
      for (const line of [
        'verbatim_http_requests_total{method="GET",route="/api/v1/me",status="200"} 1',
        'verbatim_http_requests_total{method="GET",route="/api/v1/me",status="401"} 1',
        'verbatim_http_requests_total{method="GET",route="unmatched",status="404"} 1',
        'verbatim_http_requests_total{method="DELETE",route="/api/v1/keys/:id",status="200"} 1',
        'verbatim_http_request_seconds_count{route="/api/v1/me"} 2',
      ]) {
        expect(text).to.include(`\n${line}\n`);
      }
      for (const secret of ['secret', customer.key.id, customer.account.id, 'example.com']) {
        expect(text).not.to.include(secret);
      }
    });

    it('shows engine, backlog, device and event loop', async () => {
      server.engine.backlogSeconds = 90;
      server.engine.running = 3;
      const { text } = await call(server, '/metrics');
      server.engine.running = 0;
      for (const line of [
        'verbatim_backlog_seconds 90',
        'verbatim_backlog_limit_seconds 36000',
        'verbatim_queue_windows 1',
        'verbatim_slots 2',
        'verbatim_slots_busy 2',
        'verbatim_windows_in_flight 2',
        'verbatim_real_time_factor 0.1',
        'verbatim_requests_in_flight 0',
      ]) {
        expect(text).to.include(`\n${line}\n`);
      }
      expect(text).to.match(
        /\nverbatim_build_info\{version="0\.0\.0-test",node="v[\d.]+",model="fake",device="cpu",device_name="Fake CPU"\} 1\n/,
      );
      expect(text).to.match(/\nnodejs_eventloop_lag_p99_seconds \d/);
    });

    it('shows the rows a step of the batch that windows are decoded in', async () => {
      const metrics = new Metrics();
      metrics.batchAdvanced({ steps: 4, rows: 12 });
      metrics.batchAdvanced({ steps: 6, rows: 6 });
      // Only to take an aborted window out.
      metrics.batchAdvanced({ steps: 0, rows: 0 });
      const text = await metrics.text();
      for (const line of [
        'verbatim_batch_rows_bucket{le="1"} 1',
        'verbatim_batch_rows_bucket{le="3"} 2',
        'verbatim_batch_rows_count 2',
        'verbatim_batch_steps_total 10',
      ]) {
        expect(text).to.include(`\n${line}\n`);
      }
    });

    it('asks for the token when one is configured', async () => {
      const guarded = await TestServer.start({ settings: { metricsToken: 'a metrics token' } });
      const get = async (headers: Record<string, string>): Promise<[number, string | undefined]> => {
        const { status, error } = await call(guarded, '/metrics', { headers });
        return [status, error?.code];
      };
      expect(await get({})).to.deep.equal([401, 'missing_api_key']);
      expect(await get(bearer('a metrics toke'))).to.deep.equal([401, 'invalid_api_key']);
      expect(await get(bearer(customer.key))).to.deep.equal([401, 'invalid_api_key']);
      expect(await get(bearer('a metrics token'))).to.deep.equal([200, undefined]);
      await guarded.dispose();
    });
  });

  describe('logs', () => {
    it('have one line a request, with who and how long', async () => {
      const headers = { 'x-request-id': 'mine', 'idempotency-key': 'k' };
      await transcribe(server, { key: customer.key, headers });
      await until(() => server.logs.length === 1);
      const [line] = server.logs;
      expect(line).to.include({
        level: 30,
        requestId: 'mine',
        accountId: customer.account.id,
        keyId: customer.key.id,
        method: 'POST',
        route: '/api/v1/transcribe',
        status: 200,
        audioSeconds: 3,
        queueMs: 1,
        inferenceMs: 4,
      });
      expect(line!['durationMs']).to.be.a('number');
      expect(line!['transcriptionId']).to.match(/^tr_/);
      expect(line!['time']).to.match(/^\d{4}-.*Z$/);
    });

    it('report the code of a refusal', async () => {
      await call(server, '/api/v1/me', { headers: bearer('vb_wrong') });
      expect(server.logs).to.have.length(1);
      expect(server.logs[0]).to.include({ status: 401, code: 'invalid_api_key', route: '/api/v1/me' });
    });

    it('report what was known of a failed request', async () => {
      const tooLong = transcribe(server, { key: customer.key, parts: [['audio', fakeAudio(20_000)]] });
      expect((await tooLong).status).to.equal(413);
      const refused = server.logs.pop();
      expect(refused).to.include({ code: 'audio_too_long', keyId: customer.key.id });
      expect(refused, 'the rest of the file is not measured').not.to.have.property('audioSeconds');
      const untold: [string, string | Buffer][] = [
        ['audio', fakeAudio(3)],
        ['translate_to', 'de'],
      ];
      expect((await transcribe(server, { key: customer.key, parts: untold })).status).to.equal(422);
      const line = { code: 'unsupported_translation', audioSeconds: 3, keyId: customer.key.id };
      expect(server.logs.pop()).to.include(line);
    });

    it('report what was known of the request of a client that hung up', async () => {
      server.engine.holdAll();
      const controller = new AbortController();
      const { signal } = controller;
      const running = transcribe(server, { key: customer.key, signal }).catch(() => null);
      await server.engine.untilRunning(1);
      controller.abort();
      await running;
      await until(() => server.logs.length === 1);
      expect(server.logs[0]).to.include({ status: 499, audioSeconds: 3, accountId: customer.account.id });
    });

    it('report a replay', async () => {
      const headers = { 'idempotency-key': 'k' };
      await transcribe(server, { key: customer.key, headers });
      await transcribe(server, { key: customer.key, headers });
      expect(server.logs[0]).not.to.have.property('replayed');
      expect(server.logs[1]).to.include({ status: 200, replayed: true });
    });

    it('never contain a key, a transcript, a file name or a raw path', async () => {
      await transcribe(server, { key: customer.key });
      await call(server, '/api/v1/usage?token=hidden', { headers: bearer(customer.key) });
      server.engine.failWith = new Error('engine failure');
      await transcribe(server, { key: customer.key });
      await call(server, `/api/v1/keys/${customer.key.id}`, {
        method: 'DELETE',
        headers: bearer(customer.managementKey),
      });
      const logged = JSON.stringify(server.logs);
      expect(server.logs.length).to.equal(5);
      const secrets = ['Hello', 'World', 'recording', 'hidden', customer.key.rawKey.slice(11)];
      for (const secret of [...secrets, customer.managementKey.rawKey.slice(11)]) {
        expect(logged).not.to.include(secret);
      }
    });
  });
});
