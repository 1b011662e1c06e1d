/** The contract's own check: that there is something it has seen, in this process and in others, and what it says. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { built } from './built.js';
import { check, responsesSeen, takeViolations } from './contract.js';
import { onAnswer, type SentAnswer, type UnseenAnswer } from './preload/sent-answers.js';
import { startChecked } from './recorded-answers.js';
import { call, transcribe } from './requests.js';
import { Served } from './served.js';
import { TestServer } from './server.js';
import { until } from './until.js';

const answers: (SentAnswer | UnseenAnswer)[] = [];
onAnswer((answer) => answers.push(answer));

describe('The check of answers against the OpenAPI document', () => {
  beforeEach(() => void answers.splice(0));

  it('sees every answer once, with its headers and its body', async () => {
    const server = await TestServer.start();
    const { key } = await server.customer();
    const before = responsesSeen();
    const { text } = await transcribe(server, { key });
    await transcribe(server, { key, parts: [] });
    await call(server, '/nowhere');
    expect(responsesSeen() - before).to.equal(3);
    expect(answers[0]).to.deep.include({ method: 'POST', path: '/api/v1/transcribe', status: 200, body: text });
    expect(answers[0]).to.have.nested.property('headers.content-type').that.contains('application/json');
    expect(answers.map((answer) => 'status' in answer && answer.status)).to.deep.equal([200, 400, 404]);
    await server.dispose();
  });

  it('sees those of a server in a process of its own', async () => {
    const served = await Served.start().listening();
    await call(served, '/healthz');
    await call(served, '/nowhere');
    // Written when they have been sent.
    await until(() => served.answers().length === 2);
    const seen = served.answers().map((answer) => ('status' in answer ? `${answer.path} ${answer.status}` : answer));
    expect(seen).to.deep.equal(['/healthz 200', '/nowhere 404']);
    const before = responsesSeen();
    await served.stop();
    expect(responsesSeen() - before).to.equal(2);
  });

  it('sees those of a server of the bench, and fails where it has seen none', async () => {
    const options = { main: built('src', 'main.js'), credits: [1], env: { VERBATIM_LOG_LEVEL: 'error' } };
    const asked = await startChecked(options);
    await (await fetch(`${asked.url}/healthz`)).text();
    const before = responsesSeen();
    await asked.stop();
    expect(responsesSeen() - before).to.equal(1);
    const idle = await startChecked(options);
    const failure = await idle.stop().catch((error: unknown) => (error as Error).message);
    expect(failure).to.equal('Of what the server has answered 0 were recorded, not 1 or more.');
  });

  it('says what breaks the document', () => {
    const headers = { 'x-request-id': 'r', 'content-type': 'application/json' };
    check({ method: 'GET', path: '/healthz', status: 200, headers, body: '{}' });
    check({ method: 'GET', path: '/healthz', status: 418, headers, body: '{}' });
    const [body, status] = takeViolations();
    expect(body).to.contain('/healthz 200: ');
    expect(status).to.contain('no documented status 418');
  });

  async function answered(listener: RequestListener): Promise<void> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/healthz`)).text();
    await new Promise((resolve) => server.close(resolve));
  }

  it('sees headers however they are given, and a body in pieces', async () => {
    await answered((_, response) => {
      response.setHeader('X-Request-Id', 'one');
      response.write('{"sta');
      response.end('tus":"ok"}');
    });
    await answered((_, response) => response.writeHead(200, { 'X-Request-Id': 'two' }).end(Buffer.from('{}')));
    await answered((_, response) => response.end('of a server of the tests'));
    takeViolations();
    expect(answers.map((answer) => 'body' in answer && [answer.headers['x-request-id'], answer.body])).to.deep.equal([
      ['one', '{"status":"ok"}'],
      ['two', '{}'],
    ]);
  });

  it('fails for an answer that passed it by', async () => {
    await answered((_, response) => {
      // As if Node no longer came through writeHead().
      Object.defineProperty(response, '_implicitHeader', {
        value() {
          (this as { _header: string })._header = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Request-Id: r\r\n\r\n';
        },
      });
      response.end('{}');
    });
    expect(takeViolations()).to.deep.equal(['GET /healthz was answered, and the answer was not seen']);
  });
});
