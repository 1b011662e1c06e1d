/** An answer reaches its client whatever the client's bytes or its FIN do behind the request. */
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { PART_END, PART_HEAD, RawClient, servedSocket, uploadHead } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

describe('an answer and what comes behind its request', () => {
  let server: TestServer;
  let customer: Customer;
  let client: RawClient;

  beforeEach(async () => {
    server = await TestServer.start();
    customer = await server.customer();
    client = await RawClient.open(server);
  });
  afterEach(async () => {
    client.destroy();
    await server.dispose();
  });

  const authorization = (): string => `Authorization: Bearer ${customer.managementKey.rawKey}\r\n`;
  function upload(...fields: [string, string][]): string {
    const text = fields.map(
      ([name, value]) => `--edge\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const body = text.join('') + PART_HEAD + fakeAudio(3).toString() + PART_END;
    return uploadHead(customer.key, { length: body.length }) + body;
  }

  describe('bytes that are not HTTP', () => {
    for (const [what, request, status] of [
      ['a framing that is none', 'POST /nowhere HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n', 404],
      ['a bad chunk', 'POST /nowhere HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 404],
    ] as const) {
      it(`${what}, in the packet of a refusal`, async () => {
        client.send(request);
        expect((await client.answer()).status).to.equal(status);
        await until(() => client.socket.readableEnded);
        expect(client.received.match(/HTTP\/1\.1 /g)).to.have.length(1);
      });
    }

    it('a bad chunk, when the refusal has long been sent', async () => {
      client.socket.pause();
      const serving = servedSocket(client);
      client.send('POST /nowhere HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
      const served = await serving;
      await until(() => served.writableFinished);
      client.send('zz\r\n'.repeat(1000));
      await until(() => served.destroyed || served.bytesRead === client.socket.bytesWritten);
      // A closed connection answers what comes now with a reset, which throws away what the client has not read.
      client.send('zz\r\n');
      await until(() => served.bytesRead === client.socket.bytesWritten, 'the server takes what follows');
      client.socket.resume();
      expect((await client.answer()).status).to.equal(404);
    });

    it('garbage, behind an answer that is still being read', async () => {
      client.socket.pause();
      client.send('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGARBAGE\r\n\r\n');
      await until(() => server.logs.length > 0 || client.socket.readableLength > 0);
      client.socket.resume();
      await until(() => client.closed);
      const [, length] = /content-length: (\d+)\r\n/i.exec(client.received)!;
      expect(client.received.length - client.received.indexOf('\r\n\r\n') - 4).to.equal(Number(length));
    });
  });

  describe('a FIN', () => {
    async function halfClosed(request: string): Promise<number> {
      client.socket.end(request);
      const [, status] = await client.until(/^HTTP\/1\.1 (\d+)[^]*\r\n\r\n\{[^]*\}$/);
      await until(() => client.closed);
      return Number(status);
    }

    it('lets an answer leave that takes a moment', async () => {
      expect(await halfClosed('GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n')).to.equal(200);
    });

    it('lets all of several answers leave', async () => {
      client.socket.end('GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(5));
      await client.until(/(?:HTTP\/1\.1 200 OK[^]*?){5}/);
      await until(() => client.closed);
    });

    it('lets a refusal leave that is found in the body', async () => {
      const head = `POST /api/v1/keys HTTP/1.1\r\nHost: a\r\n${authorization()}`;
      const request = `${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n[]`;
      expect(await halfClosed(request)).to.equal(400);
    });

    it('lets a refusal leave that is found in the last field of an upload', async () => {
      expect(await halfClosed(upload(['punctuate', 'perhaps']))).to.equal(400);
    });

    it('in the middle of a body is refused with the reason', async () => {
      expect(await halfClosed(upload().slice(0, -40))).to.equal(400);
      await until(() => server.uploads().length === 0);
    });

    it('while the work runs is a hang-up: nothing is charged or answered', async () => {
      server.engine.holdAll();
      client.send(upload());
      await server.engine.untilRunning(1);
      client.socket.end();
      await until(() => client.closed);
      expect(client.received).to.equal('');
      await until(() => server.engine.running === 0);
      await until(async () => (await server.balance(customer)) === 100);
      expect(server.engine).to.include({ transcribed: 0, openFiles: 0 });
    });
  });
});
