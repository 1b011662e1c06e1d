/** The rows of the contract's error table but 400, produced over HTTP. */
import { expect } from 'chai';
import { EngineError } from '../../../src/engine/native-errors.js';
import { BROKEN_AUDIO, fakeAudio } from '../../support/fake-engine.js';
import { call, transcribe, type Answer } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { audio, expectError, useErrorTable, type ErrorTable } from './error-table.js';

describe('the error table', () => {
  let server: TestServer;
  let customer: Customer;
  let manage: ErrorTable['manage'];
  let get: ErrorTable['get'];
  useErrorTable((table) => ({ server, customer, manage, get } = table));

  describe('401 missing_api_key', () => {
    it('no Authorization header', async () => {
      expectError(await call(server, '/api/v1/me'), 401, 'missing_api_key');
    });

    for (const authorization of ['Basic dXNlcjpwYXNz', 'vb_key-without-a-scheme', 'Bearerless x']) {
      it(`another scheme: ${authorization}`, async () => {
        expectError(await call(server, '/api/v1/me', { headers: { authorization } }), 401, 'missing_api_key');
      });
    }
  });

  describe('401 invalid_api_key', () => {
    const unknown = [`vb_${'A'.repeat(43)}`, 'vb_short', '', 'x'.repeat(5000)];
    for (const key of unknown) {
      it(`unknown key ${key.slice(0, 10)}`, async () => {
        expectError(await call(server, '/api/v1/me', { headers: bearer(key) }), 401, 'invalid_api_key');
      });
    }

    it('a key that differs in its last character', async () => {
      const { rawKey } = customer.key;
      const other = rawKey.slice(0, -1) + (rawKey.endsWith('A') ? 'E' : 'A');
      expectError(await call(server, '/api/v1/me', { headers: bearer(other) }), 401, 'invalid_api_key');
    });

    it('revoked key, on every endpoint', async () => {
      const key = await server.ledger.keys.create({
        accountId: customer.account.id,
        name: 'old',
        scopes: ['keys:write'],
      });
      await server.ledger.keys.revoke(customer.account.id, key.id);
      for (const path of ['/api/v1/me', '/api/v1/usage', '/api/v1/keys']) {
        expectError(await call(server, path, { headers: bearer(key) }), 401, 'invalid_api_key');
      }
      expectError(await transcribe(server, { key }), 401, 'invalid_api_key');
    });
  });

  describe('402 insufficient_credits', () => {
    it('no credits at all', async () => {
      const poor = await server.customer(0);
      const { transcribed } = server.engine;
      expectError(await transcribe(server, { key: poor.key }), 402, 'insufficient_credits');
      expect(server.engine.transcribed).to.equal(transcribed);
    });

    it('fewer than the audio takes', async () => {
      const poor = await server.customer(2);
      const answer = await transcribe(server, { key: poor.key, parts: [['audio', fakeAudio(120.5)]] });
      expectError(answer, 402, 'insufficient_credits');
      expect(await server.balance(poor)).to.equal(2);
    });
  });

  it('403 insufficient_scope, on every management endpoint', async () => {
    const plain = { headers: bearer(customer.key) };
    for (const [path, method] of [
      ['/api/v1/keys', 'GET'],
      ['/api/v1/keys', 'POST'],
      [`/api/v1/keys/${customer.key.id}`, 'DELETE'],
    ] as const) {
      expectError(await call(server, path, { ...plain, method }), 403, 'insufficient_scope');
    }
  });

  it('404 key_not_found: unknown, or of another account', async () => {
    const stranger = await server.customer();
    for (const id of ['key_unknown', stranger.key.id, '%00', "' OR 1=1 --"]) {
      expectError(await manage(`/api/v1/keys/${id}`, { method: 'DELETE' }), 404, 'key_not_found');
    }
    expect(await server.ledger.keys.authenticate(stranger.key.rawKey)).not.to.equal(null);
  });

  it('404 not_found', async () => {
    for (const path of [
      '/api',
      '/api/v1',
      '/api/v1/me/',
      '/API/v1/me',
      '/api/v1/Me',
      '/api/v1/keys/a/b',
      '//api/v1/me',
    ]) {
      expectError(await get(path), 404, 'not_found');
    }
  });

  it('405 method_not_allowed, with Allow', async () => {
    for (const [path, method, allow] of [
      ['/api/v1/me', 'POST', 'GET, HEAD, OPTIONS'],
      ['/api/v1/usage', 'DELETE', 'GET, HEAD, OPTIONS'],
      ['/api/v1/transcribe', 'GET', 'POST, OPTIONS'],
      ['/api/v1/keys', 'PUT', 'GET, POST, HEAD, OPTIONS'],
      ['/api/v1/keys/key_1', 'GET', 'DELETE, OPTIONS'],
      ['/healthz', 'POST', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const answer = await call(server, path, { method, headers: bearer(customer.key) });
      expectError(answer, 405, 'method_not_allowed');
      expect(answer.headers.get('allow')).to.equal(allow);
    }
  });

  describe('409 idempotency_conflict', () => {
    const headers = { 'idempotency-key': 'once' };

    it('another request under the same key', async () => {
      const payer = await server.customer();
      expect((await transcribe(server, { key: payer.key, headers })).status).to.equal(200);
      for (const parts of [
        [['audio', fakeAudio(4)]],
        [
          ['audio', audio],
          ['language', 'en'],
        ],
        [
          ['audio', audio],
          ['punctuate', 'no'],
        ],
      ] as [string, string | Buffer][][]) {
        const answer = await transcribe(server, { key: payer.key, headers, parts });
        expectError(answer, 409, 'idempotency_conflict', 'Idempotency-Key');
      }
      expect(await server.balance(payer)).to.equal(99);
    });

    it('the first is still running', async () => {
      const payer = await server.customer();
      server.engine.holdAll();
      const first = transcribe(server, { key: payer.key, headers });
      await server.engine.untilRunning(1);
      const second = await transcribe(server, { key: payer.key, headers });
      server.engine.release();
      expectError(second, 409, 'idempotency_conflict', 'Idempotency-Key');
      expect((await first).status).to.equal(200);
      expect(await server.balance(payer)).to.equal(99);
    });
  });

  it('413 file_too_large', async () => {
    const large = Buffer.concat([audio, Buffer.alloc(1_000_001 - audio.length)]);
    const exact = await server.customer();
    const answer = await transcribe(server, { key: customer.key, parts: [['audio', large]] });
    expectError(answer, 413, 'file_too_large', 'audio');
    const fits = await transcribe(server, {
      key: exact.key,
      parts: [['audio', large.subarray(0, 1_000_000)]],
    });
    expect(fits.status).to.equal(200);
  });

  it('413 audio_too_long', async () => {
    const answer = await transcribe(server, { key: customer.key, parts: [['audio', fakeAudio(600.1)]] });
    expectError(answer, 413, 'audio_too_long', 'audio');
  });

  it('415 unsupported_media_type', async () => {
    const send = (path: string, type: string, encoding?: string): Promise<Answer> =>
      manage(path, {
        method: 'POST',
        headers: {
          'content-type': type,
          ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
        },
        body: '{"name":"a"}',
      });
    for (const type of [
      'application/json',
      'application/x-www-form-urlencoded',
      'multipart/mixed; boundary=x',
      'audio/wav',
    ]) {
      expectError(await send('/api/v1/transcribe', type), 415, 'unsupported_media_type');
    }
    expectError(
      await send('/api/v1/transcribe', 'multipart/form-data; boundary=x', 'gzip'),
      415,
      'unsupported_media_type',
    );
    expectError(await send('/api/v1/keys', 'text/plain'), 415, 'unsupported_media_type');
    expectError(await send('/api/v1/keys', 'application/json', 'gzip'), 415, 'unsupported_media_type');
  });

  it('415 unsupported_audio_format', async () => {
    const parts: [string, Buffer][] = [['audio', Buffer.from('%PDF-1.7')]];
    const answer = await transcribe(server, { key: customer.key, parts });
    expectError(answer, 415, 'unsupported_audio_format', 'audio');
  });

  it('422 invalid_audio', async () => {
    const answer = await transcribe(server, { key: customer.key, parts: [['audio', BROKEN_AUDIO]] });
    expectError(answer, 422, 'invalid_audio', 'audio');
  });

  for (const language of ['tlh', 'ja', 'english', '', '12', 'e n']) {
    it(`422 unsupported_language: "${language}"`, async () => {
      const answer = await transcribe(server, {
        key: customer.key,
        parts: [
          ['audio', audio],
          ['language', language],
        ],
      });
      expectError(answer, 422, 'unsupported_language', 'language');
    });
  }

  for (const model of ['large-v3', 'whisper-1', 'bundled']) {
    it(`422 unsupported_model: "${model}"`, async () => {
      const parts: [string, string | Buffer][] = [
        ['audio', audio],
        ['model', model],
      ];
      const answer = await transcribe(server, { key: customer.key, parts });
      expectError(answer, 422, 'unsupported_model', 'model');
    });
  }

  for (const [language, to] of [
    ['en', 'de'],
    [null, 'ja'],
    [null, 'de'],
    ['en', 'zz'],
    ['en', ''],
  ] as const) {
    it(`422 unsupported_translation: ${language ?? 'detected'} to "${to}"`, async () => {
      const parts: [string, string | Buffer][] = [
        ['translate_to', to],
        ['audio', audio],
      ];
      if (language !== null) parts.push(['language', language]);
      const answer = await transcribe(server, { key: customer.key, parts });
      expectError(answer, 422, 'unsupported_translation', 'translate_to');
    });
  }

  it('422 unsupported_diarization', async () => {
    const answer = await transcribe(server, {
      key: customer.key,
      parts: [
        ['diarize', 'Yes'],
        ['audio', audio],
      ],
    });
    expectError(answer, 422, 'unsupported_diarization', 'diarize');
  });

  it('429 rate_limited, for the account that has too many in flight alone', async () => {
    const busy = await server.customer();
    const other = await server.customer();
    server.engine.holdAll();
    const running = [transcribe(server, { key: busy.key }), transcribe(server, { key: busy.managementKey })];
    await server.engine.untilRunning(2);
    const refused = await transcribe(server, { key: busy.key });
    const third = transcribe(server, { key: other.key });
    await server.engine.untilRunning(3);
    server.engine.release();
    expectError(refused, 429, 'rate_limited');
    const all = await Promise.all([...running, third]);
    expect(all.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect((await transcribe(server, { key: busy.key })).status).to.equal(200);
  });

  it('500 internal_error: the message has no details, the log has them', async () => {
    server.engine.failWith = new Error('secret detail at /etc/passwd');
    const answer = await transcribe(server, { key: customer.key });
    expectError(answer, 500, 'internal_error');
    expect(answer.text).not.to.include('secret');
    const logged = server.logs.find((line) => line['msg'] === 'request failed');
    expect(logged).to.have.nested.property('err.message', 'secret detail at /etc/passwd');
    expect(logged).to.have.property('requestId', answer.error!.request_id);
  });

  it('500 internal_error: an error of the engine that is no fault of the request names nothing of the machine', async () => {
    server.engine.failWith = new EngineError('io_error', '/srv/verbatim/upload: Permission denied');
    const answer = await transcribe(server, { key: customer.key });
    expectError(answer, 500, 'internal_error');
    expect(answer.text).not.to.include('/srv');
    const logged = server.logs.find((line) => line.requestId === answer.error!.request_id && 'err' in line);
    expect(logged).to.have.nested.property('err.message', '/srv/verbatim/upload: Permission denied');
  });

  describe('503', () => {
    it('overloaded: the audio does not fit into the backlog', async () => {
      server.engine.backlogSeconds = 143_999;
      server.engine.realTimeFactor = 100;
      const answer = await transcribe(server, { key: customer.key });
      server.engine.backlogSeconds = 0;
      server.engine.realTimeFactor = 0.1;
      expectError(answer, 503, 'overloaded');
      // Not the seconds until there is room for this one alone: all who are refused now come again.
      expect(answer.headers.get('retry-after')).to.equal('14399900');
    });

    it('overloaded: the backlog is full before the upload', async () => {
      server.engine.backlogSeconds = 144_001;
      const answer = await transcribe(server, { key: customer.key });
      server.engine.backlogSeconds = 0;
      expectError(answer, 503, 'overloaded');
    });

    it('shutting_down, on every endpoint that needs a key', async () => {
      const draining = await TestServer.start();
      const payer = await draining.customer();
      draining.engine.holdAll();
      const running = transcribe(draining, { key: payer.key });
      await draining.engine.untilRunning(1);
      const closed = draining.close(5000);
      const headers = bearer(payer.managementKey);
      for (const path of ['/api/v1/me', '/api/v1/usage', '/api/v1/keys']) {
        expectError(await call(draining, path, { headers }), 503, 'shutting_down');
      }
      expectError(await transcribe(draining, { key: payer.key }), 503, 'shutting_down');
      draining.engine.release();
      expect((await running).status).to.equal(200);
      await closed;
      await draining.dispose();
    });
  });
});
