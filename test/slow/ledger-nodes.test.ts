/** What several nodes get out of one PostgreSQL that is not near. */
import { expect } from 'chai';
import { POSTGRESQL, type Place } from '../ledger/backends.js';
import { Child } from '../ledger/processes.js';
import { Network } from '../support/network.js';
import { sharedCluster } from '../support/postgres-cluster.js';

const SECONDS = 8;
const MOST_DELAY_MS = 10;

describe('holds and charges a second on PostgreSQL', function () {
  this.timeout(300_000);
  let place: Place;
  let network: Network;

  beforeEach(async () => {
    place = await POSTGRESQL.place();
    network = await Network.to((await sharedCluster()).port);
  });
  afterEach(async () => {
    await network.close();
    await place.remove();
  });

  /** Of so many processes of two connections each: the middle second of each, together. */
  async function rateOf(nodes: number, delayMs: number): Promise<number> {
    network.delayMs = delayMs / 2;
    const address = new URL(place.address);
    address.port = String(network.port);
    const children = Array.from({ length: nodes }, () => new Child('rate', address.href));
    try {
      await Promise.all(children.map((child) => child.start()));
      const said = await Promise.all(children.map((child) => child.saidTimes('charged', SECONDS)));
      return said.reduce((sum, lines) => sum + medianOf(lines.map((line) => Number(line.split(' ')[1]))), 0);
    } finally {
      await Promise.all(children.map((child) => child.kill()));
    }
  }

  it(`are 3.6 times as many on 4 nodes as on 1, with ${MOST_DELAY_MS} ms added to each round trip`, async () => {
    const one = await rateOf(1, MOST_DELAY_MS);
    const four = await rateOf(4, MOST_DELAY_MS);
    console.log(`1 node ${one} a second, 4 nodes ${four}: ${(four / one).toFixed(2)} times`);
    const [near, fourNear] = [await rateOf(1, 0), await rateOf(4, 0)];
    console.log(
      `without delay: 1 node ${near} a second, 4 nodes ${fourNear}: ${(fourNear / near).toFixed(2)} times`,
    );
    expect(four / one).to.be.at.least(3.6);
  });
});

function medianOf(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
