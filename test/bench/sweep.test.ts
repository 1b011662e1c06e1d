import { expect } from 'chai';
import { deviceSettings, engineCells } from '../../bench/engine/engine-cells.js';
import { closedLoop, repeated } from '../../bench/load/closed-loop.js';
import { sweep } from '../../bench/engine/sweep.js';
import { FakeBinding } from '../engine/fake-binding.js';
import { FakeClock } from '../engine/fake-clock.js';

const WHISPER_CPP = { kind: 'whisper.cpp' } as const;
const axes = {
  ...{ modelPaths: ['m'], devices: [['cpu']], slots: [1, 2, 4], threads: [1, 2], beams: [1, 5] },
  decodersOn: () => [WHISPER_CPP],
};

describe('The sweep', () => {
  it('has a cell for every combination', () => {
    const cells = engineCells({ ...axes, devices: [['cpu'], ['cuda:0', 'cuda:1']] });
    expect(new Set(cells.map((cell) => JSON.stringify(cell)))).to.have.property('size', 24);
    expect(cells[12]).to.deep.equal({
      ...{ modelPath: 'm', devices: ['cuda:0', 'cuda:1'], slots: 1, threads: 1, beam: 1 },
      decoder: WHISPER_CPP,
    });
  });

  it('takes the cells in turns', async () => {
    const order: string[] = [];
    const steps: string[] = [];
    const measured = await sweep(['a', 'b', 'c'], {
      rounds: 2,
      measure: (cell) => Promise.resolve(order.push(cell)),
      onStep: (done, total, cell) => steps.push(`${done + 1}/${total} ${cell}`),
    });
    expect(order.join('')).to.equal('abcabc');
    expect(measured.map(({ cell }) => cell)).to.deep.equal(['a', 'b', 'c']);
    expect(measured[0]?.passes).to.deep.equal([1, 4]);
    expect(steps[3]).to.equal('4/6 a');
  });

  it('takes devices by comma, and those that VERBATIM_DEVICE names together as one setting', () => {
    const fake = new FakeBinding(new FakeClock(), { devices: ['cpu', 'cuda:0', 'cuda:1'] });
    const machine = { devices: () => fake.devices(), build: { ...fake.build, cuda: true } };
    const groups = (list: string): string[][] => deviceSettings(list, machine);
    expect(groups('cuda:0,1')).to.deep.equal([['cuda:0', 'cuda:1']]);
    expect(groups('cpu,cuda:0,1')).to.deep.equal([['cpu'], ['cuda:0', 'cuda:1']]);
    expect(groups('cuda:0,cuda:1,cpu')).to.deep.equal([['cuda:0'], ['cuda:1'], ['cpu']]);
    expect(groups('auto,cuda,cuda:0')).to.deep.equal([['cuda:0']]);
    expect(() => groups('cpu,cuda:0,2')).to.throw('Device "cuda:0,2" is not available (cuda:2)');
    expect(() => groups('cpu,gpu')).to.throw('"gpu"');
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
