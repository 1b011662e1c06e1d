/** A server whose network to its PostgreSQL is cut for ten seconds under load. */
import { expect } from 'chai';
import { createPostgresLedger } from '../../src/ledger/postgres/ledger.js';
import { POSTGRESQL, type Place } from '../ledger/backends.js';
import { Network } from '../support/network.js';
import { sharedCluster } from '../support/postgres-cluster.js';
import { transcribe, type Answer } from '../support/requests.js';
import { TestServer } from '../support/server.js';
import { until } from '../support/until.js';

const CUT_MS = 10_000;
const CLIENTS = 8;
const CREDITS = 1_000_000;

describe('a network to the database that is cut for ten seconds', function () {
  this.timeout(300_000);
  let place: Place;
  let network: Network;
  let server: TestServer;

  beforeEach(async () => {
    place = await POSTGRESQL.place();
    network = await Network.to((await sharedCluster()).port);
    const url = new URL(place.address);
    url.port = String(network.port);
    const ledger = await createPostgresLedger({ url: url.href, secret: 'a secret for the tests' });
    server = await TestServer.start({ ledger });
  });
  afterEach(async () => {
    await server.dispose();
    await network.close();
    await place.remove();
  });

  it('is answered 503 with Retry-After; nothing is lost, and what is repeated is charged once', async () => {
    const customer = await server.customer(CREDITS);
    const refused: Answer[] = [];
    const done = new Map<string, Answer>();
    let stopped = false;
    /** Sends each of its requests until it is done, as API.md asks clients to. */
    const client = async (name: number): Promise<void> => {
      for (let n = 0; !stopped; n++) {
        const headers = { 'idempotency-key': `${name}-${n}` };
        for (;;) {
          const answer = await transcribe(server, { key: customer.key, headers });
          if (answer.status === 200) done.set(`${name}-${n}`, answer);
          if (answer.status === 200) break;
          refused.push(answer);
        }
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, name) => client(name));
    await until(() => done.size > 50);
    const start = performance.now();
    network.cut();
    await new Promise((resolve) => setTimeout(resolve, CUT_MS));
    const duringCut = refused.length;
    network.heal();
    const healed = { done: done.size, at: performance.now() };
    await until(() => done.size >= healed.done + CLIENTS);
    console.log(
      `cut for ${Math.round(healed.at - start)} ms: ${duringCut} answers of 503; ` +
        `${CLIENTS} requests done ${Math.round(performance.now() - healed.at)} ms after it was healed`,
    );
    await until(() => done.size > healed.done + 50);
    stopped = true;
    await Promise.all(clients);
    expect(duringCut).to.be.above(0);
    for (const { status, headers, error } of refused) {
      // A repeat may meet its first try, which waits to be charged.
      expect(status, error?.message).to.be.oneOf([503, 409]);
      if (status === 503) expect(headers.get('retry-after')).to.match(/^[1-9]\d*$/);
    }
    const left = CREDITS - done.size;
    await until(async () => (await server.balance(customer)) === left, 'what was owed is given back');
    expect((await server.ledger.history.report(customer.account.id, 1)).totalCredits).to.equal(done.size);
    expect(await server.ledger.audit()).to.deep.equal([]);
  });
});
