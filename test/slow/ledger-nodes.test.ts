/** What several nodes get out of one PostgreSQL that is not near. */
import { expect } from 'chai';
import { measureLedgerNodes } from '../../bench/load/ledger-nodes.js';
import { POSTGRESQL, type Place } from '../ledger/backends.js';

const SECONDS = 8;
const MOST_DELAY_MS = 10;
/**
 * Few: what a node may ask at a time is to be the limit, not the processors of the machine that all nodes share here.
 */
const CONNECTIONS = 2;

describe('holds and charges a second on PostgreSQL', function () {
  this.timeout(300_000);
  let place: Place;

  beforeEach(async () => (place = await POSTGRESQL.place()));
  afterEach(() => place.remove());

  async function rateOf(nodes: number, roundTripMs: number): Promise<number> {
    const { address } = place;
    const load = { address, nodes, roundTripMs, connections: CONNECTIONS, seconds: SECONDS };
    return Math.round((await measureLedgerNodes(load)).perSecond);
  }

  it(`are 3.6 times as many on 4 nodes as on 1, with ${MOST_DELAY_MS} ms added to each round trip`, async () => {
    const one = await rateOf(1, MOST_DELAY_MS);
    const four = await rateOf(4, MOST_DELAY_MS);
    console.log(`1 node ${one} a second, 4 nodes ${four}: ${(four / one).toFixed(2)} times`);
    const [near, fourNear] = [await rateOf(1, 0), await rateOf(4, 0)];
    console.log(`without delay: 1 node ${near} a second, 4 nodes ${fourNear}: ${(fourNear / near).toFixed(2)} times`);
    expect(four / one).to.be.at.least(3.6);
  });
});
