import { expect } from 'chai';
import type { EnginePass } from '../../bench/engine/engine-pass.js';
import { closedLoop, repeated } from '../../bench/load/closed-loop.js';
import { sweep, sweepCells } from '../../bench/engine/sweep.js';
import { FakeClock } from '../engine/fake-binding.js';

const axes = { modelPaths: ['m'], devices: ['cpu'], slots: [1, 2, 4], threads: [1, 2], beams: [1, 5] };

describe('The sweep', () => {
  it('has a cell for every combination, and none beyond the threads that are there', () => {
    expect(sweepCells(axes)).to.have.length(12);
    const bounded = sweepCells(axes, 4);
    expect(bounded).to.have.length(10);
    expect(bounded.every(({ slots, threads }) => slots * threads <= 4)).to.equal(true);
    expect(sweepCells({ ...axes, devices: ['cuda:0'] }, 1)).to.have.length(12);
  });

  it('takes the cells in turns', async () => {
    const order: number[] = [];
    const cells = sweepCells({ ...axes, threads: [1], beams: [1] });
    const measured = await sweep(cells, {
      rounds: 2,
      measure: ({ slots }) => {
        order.push(slots);
        return Promise.resolve({ rtfx: order.length } as EnginePass);
      },
    });
    expect(order).to.deep.equal([1, 2, 4, 1, 2, 4]);
    expect(measured[1]?.passes.map(({ rtfx }) => rtfx)).to.deep.equal([2, 5]);
  });
});

describe('The closed loop', () => {
  it('keeps every client at work, one item each, and returns in the order of the items', async () => {
    let running = 0;
    let most = 0;
    const clock = new FakeClock();
    const work = async (wait: number): Promise<number> => {
      most = Math.max(most, ++running);
      await clock.sleep(wait);
      running--;
      return wait;
    };
    const looping = closedLoop(repeated([30, 1, 10], 4), 3, work, clock);
    await clock.run();
    const results = await looping;
    expect(most).to.equal(3);
    expect(results.map(({ value }) => value)).to.deep.equal(repeated([30, 1, 10], 4));
    for (const { value, milliseconds } of results) expect(milliseconds).to.equal(value);
    // 164 in all, and whoever is done first takes the next: the last ends with the fourth 30.
    expect(clock.now()).to.equal(61);
  });

  it('fails when the work does', async () => {
    const failed = await closedLoop([1, 2], 1, () => Promise.reject(new Error('broken'))).catch(
      (error: unknown) => error,
    );
    expect(failed).to.have.property('message', 'broken');
  });
});
