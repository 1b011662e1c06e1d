import { expect } from 'chai';
import { GrowingPause, Pauses } from '../src/growing-pause.js';
import { ManualTimers } from './support/manual-timers.js';

describe('A growing pause', () => {
  it('doubles up to its longest, and is the first again once nothing fails', () => {
    const timers = new ManualTimers();
    const pause = new GrowingPause(timers, { firstMs: 10, longestMs: 50 });
    let over = 0;
    const lasts = (milliseconds: number): void => {
      const before = over;
      pause.begin(() => (over += 1));
      timers.pass(milliseconds - 1);
      expect([over, pause.isRunning], `before ${milliseconds} ms`).to.deep.equal([before, true]);
      timers.pass(1);
      expect([over, pause.isRunning], `after ${milliseconds} ms`).to.deep.equal([before + 1, false]);
    };
    for (const milliseconds of [10, 20, 40, 50, 50]) lasts(milliseconds);
    pause.end();
    lasts(10);
  });

  it('is no longer than a bound of this once, and grows on', () => {
    const timers = new ManualTimers();
    const pause = new GrowingPause(timers, { firstMs: 10, longestMs: 50 });
    let over = 0;
    for (const [mostMs, milliseconds] of [
      [15, 10],
      [15, 15],
      [15, 15],
      [undefined, 50],
    ] as const) {
      const before = over;
      pause.begin(() => (over += 1), mostMs);
      timers.pass(milliseconds - 1);
      expect(over, `before ${milliseconds} ms`).to.equal(before);
      timers.pass(1);
      expect(over, `after ${milliseconds} ms`).to.equal(before + 1);
    }
  });

  it('that is ended, or begun again, is never over', () => {
    const timers = new ManualTimers();
    const pause = new GrowingPause(timers);
    const over: string[] = [];
    pause.begin(() => over.push('one'));
    pause.begin(() => over.push('other'));
    timers.pass(10_000);
    expect(over).to.deep.equal(['other']);
    pause.begin(() => over.push('ended'));
    pause.end();
    timers.pass(100_000);
    expect([over, timers.pending]).to.deep.equal([['other'], 0]);
  });
});

describe('Pauses of many callers', () => {
  it('end by their time, or all at once', async () => {
    const timers = new ManualTimers();
    const pauses = new Pauses(timers);
    const over: string[] = [];
    const wait = (name: string, milliseconds: number) => pauses.pause(milliseconds).then(() => over.push(name));
    const first = wait('short', 10);
    const others = [wait('long', 1000), wait('longer', 2000)];
    timers.pass(10);
    await first;
    expect([over, timers.pending]).to.deep.equal([['short'], 2]);
    pauses.wake();
    await Promise.all(others);
    expect([over, timers.pending]).to.deep.equal([['short', 'long', 'longer'], 0]);
  });
});
