import { expect } from 'chai';
import { InFlightRegistry } from '../../../src/http/limits/in-flight.js';
import { ManualTimers } from '../../support/manual-timers.js';

describe('InFlightRegistry', () => {
  const owner = { accountId: 'a', keyId: 'k1', requestId: 'req' };
  let timers: ManualTimers;
  let registry: InFlightRegistry;
  beforeEach(() => {
    timers = new ManualTimers();
    registry = new InFlightRegistry({ maxPerAccount: 2, retryAfterSeconds: () => 7, timers });
  });

  const refusal = (work: () => unknown): { code?: unknown; retryAfterSeconds?: unknown } => {
    try {
      work();
    } catch (error) {
      return error as { code?: unknown };
    }
    return {};
  };

  it('limits an account, whatever its keys, and nobody else', () => {
    registry.begin(owner);
    const second = registry.begin({ accountId: 'a', keyId: 'k2', requestId: 'req' });
    expect(refusal(() => registry.begin(owner))).to.include({ code: 'rate_limited', retryAfterSeconds: 7 });
    registry.begin({ accountId: 'b', keyId: 'k3', requestId: 'req' });
    expect(registry.keyIds().sort()).to.deep.equal(['k1', 'k2', 'k3']);
    second.end();
    second.end();
    registry.begin(owner);
    expect(refusal(() => registry.begin(owner))).to.include({ code: 'rate_limited' });
    expect(registry.size).to.equal(3);
  });

  it('aborts what a revoked key has in flight, and nothing else', () => {
    const [first, second] = [registry.begin(owner), registry.begin(owner)];
    const other = registry.begin({ accountId: 'b', keyId: 'k2', requestId: 'req' });
    registry.revokeKey('k1');
    expect([first, second, other].map(({ signal }) => signal.aborted)).to.deep.equal([true, true, false]);
    expect(first.signal.reason).to.have.property('code', 'invalid_api_key');
    first.abort(new Error('later'));
    expect(first.signal.reason).to.have.property('code', 'invalid_api_key');
  });

  it('cancels one request of an account, by its id, and no other account’s', () => {
    const [first, second] = ['one', 'two'].map((requestId) => registry.begin({ ...owner, requestId }));
    expect(registry.cancel('b', 'one')).to.equal(false);
    expect(registry.cancel('a', 'three')).to.equal(false);
    expect(registry.cancel('a', 'one')).to.equal(true);
    expect([first!.signal.aborted, second!.signal.aborted]).to.deep.equal([true, false]);
    expect(first!.signal.reason).to.have.property('code', 'conflict');
    first!.end();
    expect(registry.cancel('a', 'one')).to.equal(false);
  });

  it('ends the open connections of a revoked key, and drains without them', async () => {
    const ended: string[] = [];
    const watch = (keyId: string, name: string) =>
      registry.watchConnection({ accountId: 'a', keyId, revoked: () => ended.push(name) });
    watch('k1', 'first');
    const unwatch = watch('k2', 'second');
    watch('k3', 'third');
    expect(registry.keyIds()).to.deep.equal(['k1', 'k2', 'k3']);
    registry.revokeKey('k1');
    expect(ended).to.deep.equal(['first']);
    unwatch();
    registry.revokeKey('k2');
    registry.revokeAccount('a');
    expect(ended).to.deep.equal(['first', 'first', 'third']);
    await registry.drain(10_000);
  });

  it('drains: waits for what runs, refuses what comes', async () => {
    const running = registry.begin(owner);
    let drained = false;
    const draining = registry.drain(10_000).then(() => (drained = true));
    expect(refusal(() => registry.begin({ accountId: 'b', keyId: 'k', requestId: 'req' }))).to.include({
      code: 'shutting_down',
    });
    timers.pass(9_999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(drained).to.equal(false);
    running.end();
    await draining;
    timers.pass(1);
    expect(running.signal.aborted).to.equal(false);
  });

  it('drains: aborts what takes too long, and gives up on what does not stop', async () => {
    const stubborn = registry.begin(owner);
    const draining = registry.drain(10, 20);
    timers.pass(9);
    expect(stubborn.signal.aborted).to.equal(false);
    timers.pass(1);
    await timers.untilWaiting(20);
    expect(stubborn.signal.reason).to.have.property('code', 'shutting_down');
    timers.pass(20);
    await draining;
  });
});
