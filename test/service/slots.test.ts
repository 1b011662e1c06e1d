import { expect } from 'chai';
import { GPU_SLOTS, slotsOn } from '../../src/service/slots.js';
import { threadPoolSize, TRANSLATORS } from '../../src/service/thread-pool.js';

const unset = { slots: null, threads: 1 };

describe('slots on a device', () => {
  it('are as many as a CPU has cores for', () => {
    expect(slotsOn(['cpu'], unset, 64)).to.equal(64);
    expect(slotsOn(['cpu'], { slots: null, threads: 4 }, 64)).to.equal(16);
    expect(slotsOn(['cpu'], { slots: null, threads: 4 }, 2)).to.equal(1);
  });

  it('are a few on a graphics card, whatever number of cores the host has', () => {
    for (const cores of [1, 2, 64]) {
      expect(slotsOn(['cuda:0'], unset, cores)).to.equal(GPU_SLOTS);
      expect(slotsOn(['cuda:0', 'cuda:1'], unset, cores)).to.equal(GPU_SLOTS);
      expect(slotsOn(['vulkan:0'], unset, cores)).to.equal(GPU_SLOTS);
    }
    expect(GPU_SLOTS).to.be.within(2, 4);
  });

  it('are those of VERBATIM_SLOTS on either', () => {
    for (const device of ['cpu', 'cuda:0']) expect(slotsOn([device], { slots: 7, threads: 2 }, 64)).to.equal(7);
  });
});

describe("the thread pool's size", () => {
  const spare = TRANSLATORS + 4;

  it('leaves a thread for every slot of every device, and some to spare', () => {
    expect(threadPoolSize({ VERBATIM_SLOTS: '3' }, 64, 1)).to.equal(3 + spare);
    expect(threadPoolSize({ VERBATIM_SLOTS: '3', VERBATIM_DEVICE: 'cuda:0,1' }, 64, 1)).to.equal(6 + spare);
    expect(threadPoolSize({ VERBATIM_SLOTS: '256', VERBATIM_DEVICE: 'cuda:0,1,2,3,4' }, 64, 1)).to.equal(1024);
  });

  it('is enough for the slots that are chosen where none are set, on whichever device', () => {
    for (const cores of [1, 2, 64]) {
      const size = (env: Record<string, string>): number => threadPoolSize(env, cores, 1) - spare;
      for (const env of [{}, { VERBATIM_DEVICE: 'auto' }, { VERBATIM_DEVICE: 'cuda' }]) {
        expect(size(env)).to.be.at.least(slotsOn(['cuda:0'], unset, cores));
        expect(size(env)).to.be.at.least(slotsOn(['cpu'], unset, cores));
      }
      expect(size({ VERBATIM_DEVICE: 'cpu' })).to.equal(slotsOn(['cpu'], unset, cores));
      expect(size({ VERBATIM_DEVICE: 'cuda:0,1' })).to.be.at.least(2 * slotsOn(['cuda:0'], unset, cores));
    }
  });

  it('is enough for tuned slots', () => {
    expect(threadPoolSize({ VERBATIM_DEVICE: 'cpu' }, 2, 12)).to.equal(12 + spare);
  });
});
