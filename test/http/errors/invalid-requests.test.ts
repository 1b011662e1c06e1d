/** 400 of the contract's error table: everything that can be wrong with a request, produced over HTTP. */
import { expect } from 'chai';
import { call, transcribe, type Answer, type CallInit } from '../../support/requests.js';
import { bearer, type TestServer, type Customer } from '../../support/server.js';
import { audio, expectError, useErrorTable, type ErrorTable } from './error-table.js';

describe('the error table: 400 invalid_request', () => {
  let server: TestServer;
  let customer: Customer;
  let manage: ErrorTable['manage'];
  let get: ErrorTable['get'];
  useErrorTable((table) => ({ server, customer, manage, get } = table));
  const json = (body: string): CallInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });

  const days = ['0', '91', '-1', '1.5', 'ten', '', '1e1', '%20', '7&days=8', '999999999999999999999'];
  for (const value of days) {
    it(`days=${value}`, async () => {
      expectError(await get(`/api/v1/usage?days=${value}`), 400, 'invalid_request', 'days');
    });
  }

  const names = ['""', '"   "', `"${'x'.repeat(101)}"`, '7', 'null', '["a"]', '"a\\u0000b"', '"\\ud800"'];
  for (const name of names) {
    it(`key name ${name.slice(0, 20)}`, async () => {
      expectError(await manage('/api/v1/keys', json(`{"name":${name}}`)), 400, 'invalid_request', 'name');
    });
  }

  it('key without a name', async () => {
    expectError(await manage('/api/v1/keys', json('{}')), 400, 'invalid_request', 'name');
  });

  it('unknown member beside the key name', async () => {
    const answer = await manage('/api/v1/keys', json('{"name":"a","scopes":["keys:write"]}'));
    expectError(answer, 400, 'invalid_request', 'scopes');
  });

  for (const body of ['', '{', '[]', 'null', '"name"', '{"name":"a"} x', `{"name":"${'x'.repeat(20_000)}"}`]) {
    it(`JSON body ${body.slice(0, 20)}`, async () => {
      expectError(await manage('/api/v1/keys', json(body)), 400, 'invalid_request');
    });
  }

  it('JSON body that is not UTF-8', async () => {
    const init = { ...json(''), body: Buffer.from('{"name":"\xff"}', 'latin1') };
    expectError(await manage('/api/v1/keys', init), 400, 'invalid_request');
  });

  const multipart = (body: string, boundary = '; boundary=edge'): Promise<Answer> =>
    call(server, '/api/v1/transcribe', {
      method: 'POST',
      headers: { ...bearer(customer.key), 'content-type': `multipart/form-data${boundary}` },
      body,
    });

  it('multipart without a boundary', async () => {
    expectError(await multipart('x', ''), 400, 'invalid_request');
  });

  for (const [what, body] of [
    ['empty', ''],
    ['without any part', 'hello'],
    ['without its end', '--edge\r\nContent-Disposition: form-data; name="language"\r\n\r\nen'],
    ['with a bad part header', '--edge\r\nNo header at all\r\n\r\nx\r\n--edge--\r\n'],
    ['with a nameless part', '--edge\r\nContent-Disposition: form-data\r\n\r\nx\r\n--edge--\r\n'],
  ] as const) {
    it(`multipart ${what}`, async () => {
      expectError(await multipart(body), 400, 'invalid_request');
    });
  }

  it('multipart that breaks off inside the file', async () => {
    const head = '--edge\r\nContent-Disposition: form-data; name="audio"; filename="a"\r\n\r\n';
    expectError(await multipart(head + audio.toString()), 400, 'invalid_request');
  });

  for (const [what, parts, param] of [
    ['missing audio', [['language', 'en']], 'audio'],
    ['audio as text', [['audio', 'RIFF']], 'audio'],
    [
      'audio twice',
      [
        ['audio', audio],
        ['audio', audio],
      ],
      'audio',
    ],
    [
      'language as a file',
      [
        ['audio', audio],
        ['language', Buffer.from('en')],
      ],
      'language',
    ],
    [
      'unknown field',
      [
        ['audio', audio],
        ['temperature', '0'],
      ],
      'temperature',
    ],
    [
      'unknown file',
      [
        ['audio', audio],
        ['video', audio],
      ],
      'video',
    ],
    [
      'language twice',
      [
        ['language', 'en'],
        ['audio', audio],
        ['language', 'en'],
      ],
      'language',
    ],
    [
      'over-long field',
      [
        ['audio', audio],
        ['language', 'e'.repeat(1025)],
      ],
      'language',
    ],
    [
      'bad punctuate',
      [
        ['audio', audio],
        ['punctuate', 'maybe'],
      ],
      'punctuate',
    ],
    [
      'empty punctuate',
      [
        ['audio', audio],
        ['punctuate', ''],
      ],
      'punctuate',
    ],
    [
      'bad timestamps',
      [
        ['audio', audio],
        ['timestamps', 'words'],
      ],
      'timestamps',
    ],
    [
      'empty format',
      [
        ['format', ''],
        ['audio', audio],
      ],
      'format',
    ],
    [
      'bad format',
      [
        ['audio', audio],
        ['format', 'verbose_json'],
      ],
      'format',
    ],
    [
      'over-long prompt',
      [
        ['audio', audio],
        ['prompt', 'é'.repeat(1001)],
      ],
      'prompt',
    ],
    [
      'prompt of too many bytes',
      [
        ['prompt', '👩'.repeat(1001)],
        ['audio', audio],
      ],
      'prompt',
    ],
    [
      'field that is not known yet',
      [
        ['audio', audio],
        ['num_people', '2'],
      ],
      'num_people',
    ],
    [
      'bad diarize',
      [
        ['diarize', '2'],
        ['audio', audio],
      ],
      'diarize',
    ],
  ] as [string, [string, string | Buffer][], string][]) {
    it(what, async () => {
      expectError(await transcribe(server, { key: customer.key, parts }), 400, 'invalid_request', param);
    });
  }

  it('says how long a prompt may be', async () => {
    const parts: [string, string | Buffer][] = [
      ['audio', audio],
      ['prompt', 'x'.repeat(5000)],
    ];
    const { error } = await transcribe(server, { key: customer.key, parts });
    expect(error?.message).to.equal('The field "prompt" may have at most 1000 characters.');
  });

  for (const value of ['', 'x'.repeat(256), 'tab\there', 'caf\u00e9']) {
    it(`Idempotency-Key ${JSON.stringify(value.slice(0, 12))}`, async () => {
      const answer = await transcribe(server, { key: customer.key, headers: { 'idempotency-key': value } });
      expectError(answer, 400, 'invalid_request', 'Idempotency-Key');
    });
  }
});
