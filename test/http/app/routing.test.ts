import { expect } from 'chai';
import { buildDashboard } from '../../support/dashboard.js';
import { call, RawClient } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

describe('routing and headers', () => {
  let server: TestServer;
  let customer: Customer;

  before(async () => {
    server = await TestServer.start();
    customer = await server.customer();
  });
  after(() => server.dispose());

  async function raw(request: string): Promise<Awaited<ReturnType<RawClient['answer']>>> {
    const client = await RawClient.open(server);
    client.send(request);
    const answer = await client.answer();
    client.destroy();
    return answer;
  }

  describe('X-Request-Id', () => {
    for (const id of ['a', 'Trace-1.2_3', 'x'.repeat(128)]) {
      it(`is the client’s own: ${id.slice(0, 12)}`, async () => {
        const { headers, error } = await call(server, '/api/v1/me', { headers: { 'x-request-id': id } });
        expect(headers.get('x-request-id')).to.equal(id);
        expect(error!.request_id).to.equal(id);
      });
    }

    for (const id of ['', 'x'.repeat(129), 'a b', 'a"b', 'caf\u00e9', 'a,b']) {
      it(`is made when the client’s is not sane: ${JSON.stringify(id.slice(0, 12))}`, async () => {
        const { headers } = await call(server, '/healthz', { headers: { 'x-request-id': id } });
        expect(headers.get('x-request-id')).to.match(/^req_[0-9a-f-]{36}$/);
      });
    }

    it('is on every response and never twice the same', async () => {
      const paths = ['/api/v1/me', '/nowhere', '/healthz', '/readyz', '/metrics', '/api/v1/keys/%'];
      const ids = await Promise.all(paths.map(async (path) => (await call(server, path)).headers.get('x-request-id')));
      expect(new Set(ids)).to.have.property('size', paths.length);
      for (const id of ids) expect(id).to.match(/^req_/);
    });
  });

  it('leads a browser that asks for the server alone to the dashboard, or to the documents where there is none', async () => {
    const root = (url: string) => fetch(url, { redirect: 'manual' });
    const to = async (url: string) => {
      const { status, headers } = await root(url);
      return { status, location: headers.get('location') };
    };
    expect(await to(`${server.url}/`)).to.deep.equal({ status: 303, location: '/dashboard' });
    const without = await TestServer.start({ settings: { dashboard: false } });
    try {
      expect(await to(`${without.url}/`)).to.deep.equal({ status: 303, location: '/docs' });
      expect((await root(`${without.url}/docs`)).status).to.equal(200);
    } finally {
      await without.dispose();
    }
  });

  it('has the icon that browsers ask for by themselves', async () => {
    buildDashboard();
    const { status, headers, text } = await call(server, '/favicon.ico');
    expect({ status, type: headers.get('content-type') }).to.deep.equal({
      status: 200,
      type: 'image/svg+xml; charset=utf-8',
    });
    expect(text).to.match(/^<svg /);
    expect(headers.get('cache-control')).to.equal('public, max-age=86400');
  });

  it('answers HEAD like GET, without the body', async () => {
    const init = { headers: bearer(customer.key) };
    const get = await call(server, '/api/v1/me', init);
    const head = await call(server, '/api/v1/me', { ...init, method: 'HEAD' });
    expect(head.status).to.equal(200);
    expect(head.text).to.equal('');
    expect(head.headers.get('content-length')).to.equal(get.headers.get('content-length'));
  });

  it('answers OPTIONS with the methods', async () => {
    const known = await call(server, '/api/v1/keys', { method: 'OPTIONS' });
    expect(known.status).to.equal(204);
    expect(known.headers.get('allow')).to.equal('GET, POST, HEAD, OPTIONS');
    expect((await call(server, '/nowhere', { method: 'OPTIONS' })).status).to.equal(404);
  });

  it('reports nothing about its software and lets nothing be cached', async () => {
    const { headers } = await call(server, '/api/v1/me', { headers: bearer(customer.key) });
    expect(headers.get('x-powered-by')).to.equal(null);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
  });

  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
    it(`takes the scheme as ${scheme}`, async () => {
      const headers = { authorization: `${scheme} ${customer.key.rawKey}` };
      expect((await call(server, '/api/v1/me', { headers })).status).to.equal(200);
    });
  }

  describe('malformed HTTP is answered in JSON', () => {
    const cases: [string, string][] = [
      ['a request line that is none', 'HELLO\r\n\r\n'],
      ['headers that are too large', `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`],
      ['a bad Content-Length', 'POST /api/v1/keys HTTP/1.1\r\nHost: a\r\nContent-Length: ten\r\n\r\n'],
      ['a missing Host', 'GET /api/v1/usage HTTP/1.1\r\n\r\n'],
      [
        'both framings at once',
        'POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ],
    ];
    for (const [what, request] of cases) {
      it(what, async () => {
        const { status, error, head } = await raw(request);
        expect({ status, code: error.code }).to.deep.equal({ status: 400, code: 'invalid_request' });
        expect(head).to.match(new RegExp(`\\r\\nX-Request-Id: ${error.request_id}\\r\\n`, 'i'));
        expect(head).to.match(/\r\nContent-Type: application\/json; charset=utf-8\r\n/i);
      });
    }

    it('a bad chunk in the middle of a body', async () => {
      const head = 'POST /api/v1/keys HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
      const auth = `Authorization: Bearer ${customer.managementKey.rawKey}\r\n`;
      const { status, error } = await raw(`${head}${auth}Transfer-Encoding: chunked\r\n\r\nzz\r\n`);
      expect({ status, code: error.code }).to.deep.equal({ status: 400, code: 'invalid_request' });
    });

    for (const path of ['/api/v1/keys/%', '/api/v1/keys/%ff', '/api/v1/keys/%E0%A4%A']) {
      it(`a path that cannot be decoded: ${path}`, async () => {
        const init = { method: 'DELETE', headers: bearer(customer.managementKey) };
        const { status, error } = await call(server, path, init);
        expect({ status, code: error!.code }).to.deep.equal({ status: 400, code: 'invalid_request' });
      });
    }
  });

  it('serves many requests on one connection', async () => {
    const client = await RawClient.open(server);
    const request = `GET /api/v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${customer.key.rawKey}\r\n\r\n`;
    client.send(request.repeat(50));
    // No two ways to match: fewer answers are seen to be fewer at once.
    await client.until(/(?:HTTP\/1\.1 200 OK(?:(?!HTTP\/1)[^])*){50}/);
    expect(client.closed).to.equal(false);
    client.destroy();
  });

  for (const expectation of ['miracles', '200-ok'])
    it(`refuses an expectation that it does not meet: ${expectation}`, async () => {
      const { status, error, head } = await raw(`GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: ${expectation}\r\n\r\n`);
      expect({ status, code: error.code }).to.deep.equal({ status: 417, code: 'invalid_request' });
      expect(error.message).to.contain('100-continue');
      expect(head).to.match(new RegExp(`\\r\\nX-Request-Id: ${error.request_id}\\r\\n`, 'i'));
    });

  for (const second of ['Host: b', 'host: a'])
    it(`refuses a second Host header: ${second}`, async () => {
      const { status, error } = await raw(`GET /healthz HTTP/1.1\r\nHost: a\r\n${second}\r\n\r\n`);
      expect({ status, code: error.code }).to.deep.equal({ status: 400, code: 'invalid_request' });
      expect(error.message).to.contain('more than one Host header');
    });
});
