import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express, { type Express } from 'express';
import { messagesOf } from '../../../src/http/connections/express-messages.js';

describe('Messages for Express', () => {
  /** What requests and answers are before Express has them, and when it hands them on. */
  async function asked(app: Express, options = {}): Promise<unknown[][]> {
    const seen: unknown[][] = [];
    const note = (...messages: object[]): void =>
      void seen.push(messages.map((message) => Object.getPrototypeOf(message) as unknown));
    app.get('/', (req, res) => {
      note(req, res);
      res.status(201).json({ host: req.get('host'), ip: req.ip, app: req.app === app });
    });
    const server = createServer(options, (req, res) => {
      note(req, res);
      expect(req).to.be.instanceOf(IncomingMessage);
      expect(res).to.be.instanceOf(ServerResponse);
      app(req, res);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const answer = await fetch(`http://${host}/`);
    expect(answer.status).to.equal(201);
    expect(await answer.json()).to.deep.equal({ host, ip: '127.0.0.1', app: true });
    server.close();
    return seen;
  }

  it('stay what they are, and can all that Express’s can', async () => {
    const app = express();
    const seen = await asked(app, messagesOf(app));
    expect(seen[0]).to.deep.equal([app.request, app.response]);
    expect(seen[1]![0]).to.equal(seen[0]![0]);
    expect(seen[1]![1]).to.equal(seen[0]![1]);
  });

  it('would be changed without', async () => {
    const seen = await asked(express());
    expect(seen[1]![0]).to.not.equal(seen[0]![0]);
    expect(seen[1]![1]).to.not.equal(seen[0]![1]);
  });
});
