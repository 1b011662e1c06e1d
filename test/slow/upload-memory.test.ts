/** What an upload of 100 MB costs in resident memory, on both sides of it. */
import { once } from 'node:events';
import { truncateSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { fakeAudio } from '../support/fake-engine.js';
import { RawClient, sendFile } from '../support/requests.js';
import { TestServer, type Customer } from '../support/server.js';

const MEGABYTE = 1_000_000;

describe('memory of an upload', () => {
  let server: TestServer;
  let customer: Customer;

  beforeEach(async () => {
    server = await TestServer.start();
    customer = await server.customer();
  });
  afterEach(() => server.dispose());

  it('the server streams it to disk in less than 60 MB', async () => {
    const before = process.memoryUsage().rss;
    let peak = 0;
    const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
    expect(await sendFile(await RawClient.open(server), customer.key, 100 * MEGABYTE)).to.equal(200);
    clearInterval(sampling);
    expect(peak - before).to.be.below(60 * MEGABYTE);
  });

  it('the client streams it from disk in less than 40 MB', async () => {
    const audio = join(server.directory, 'large.wav');
    writeFileSync(audio, fakeAudio(3));
    truncateSync(audio, 100 * MEGABYTE);
    // Takes what fits into the kernel's buffers and reads nothing.
    const wall = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
    await once(wall, 'listening');
    const baseUrl = `http://127.0.0.1:${(wall.address() as AddressInfo).port}`;
    const before = process.memoryUsage().rss;
    const controller = new AbortController();
    const { signal } = controller;
    const running = server.client(customer.key, { baseUrl }).transcribe({ audio }, { signal });
    await once(wall, 'connection');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(process.memoryUsage().rss - before).to.be.below(40 * MEGABYTE);
    controller.abort();
    expect(await running.catch((error: unknown) => error)).to.equal(signal.reason);
    wall.close();
  });
});
