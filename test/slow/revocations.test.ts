/** How soon every node knows of a key that one of them revokes. */
import { expect } from 'chai';
import { percentiles } from '../../bench/reports/statistics.js';
import { POSTGRESQL } from '../ledger/backends.js';
import { Bench, customer } from '../ledger/support.js';

const NODES = 4;
const REVOCATIONS = 200;
const GOAL_MS = 100;

describe('a revoked key', function () {
  this.timeout(120_000);

  it(`is known to ${NODES} nodes within ${GOAL_MS} ms`, async () => {
    const bench = new Bench(POSTGRESQL);
    try {
      const nodes = await Promise.all(Array.from({ length: NODES }, () => bench.server()));
      const [first] = nodes;
      const { account } = await customer(first!);
      const milliseconds: number[] = [];
      for (let n = 0; n < REVOCATIONS; n++) {
        const key = await first!.keys.create({ accountId: account.id, name: 'short-lived', scopes: [] });
        const reported = nodes.map((node) => new Promise((resolve) => node.keys.onRevoked(resolve)));
        const start = performance.now();
        await first!.keys.revoke(account.id, key.id);
        await Promise.all(reported);
        milliseconds.push(performance.now() - start);
      }
      const { p50, p99 } = percentiles(milliseconds);
      console.log(`all ${NODES} nodes notified: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
      expect(p99).to.be.below(GOAL_MS);
    } finally {
      await bench.dispose();
    }
  });
});
