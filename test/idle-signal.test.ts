import { expect } from 'chai';
import { IdleSignal } from '../src/idle-signal.js';

describe('A signal that nothing is left to do', () => {
  it('resolves all who wait, once it is so, and those who come later at once', async () => {
    let left = 2;
    const signal = new IdleSignal(() => left === 0);
    const resolved: string[] = [];
    const waiting = ['one', 'other'].map((who) => signal.whenIdle().then(() => resolved.push(who)));
    left = 1;
    signal.check();
    await Promise.resolve();
    expect(resolved).to.deep.equal([]);
    left = 0;
    signal.check();
    await Promise.all(waiting);
    expect(resolved).to.deep.equal(['one', 'other']);
    await signal.whenIdle();
  });

  it('waits again for what began again', async () => {
    let left = 0;
    const signal = new IdleSignal(() => left === 0);
    await signal.whenIdle();
    left = 1;
    let isOver = false;
    const waiting = signal.whenIdle().then(() => (isOver = true));
    signal.check();
    await Promise.resolve();
    expect(isOver).to.equal(false);
    left = 0;
    signal.check();
    await waiting;
  });
});
