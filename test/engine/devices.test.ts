import { expect } from 'chai';
import { resolveDevices } from '../../src/engine/devices.js';
import { FakeBinding } from './fake-binding.js';
import { FakeClock } from './fake-clock.js';

function machine(devices: string[], cuda: boolean): Pick<FakeBinding, 'devices'> & { build: FakeBinding['build'] } {
  const fake = new FakeBinding(new FakeClock(), { devices });
  return { devices: () => fake.devices(), build: { ...fake.build, cuda } };
}

const CPU_ONLY = machine(['cpu'], false);
const CUDA_BUILD_WITHOUT_GPU = machine(['cpu'], true);
const TWO_GPUS = machine(['cpu', 'cuda:0', 'cuda:1'], true);

describe('resolveDevices', () => {
  it('takes the first GPU for auto, or the CPU where there is none', () => {
    expect(resolveDevices('auto', TWO_GPUS)).to.deep.equal(['cuda:0']);
    expect(resolveDevices('auto', CPU_ONLY)).to.deep.equal(['cpu']);
  });

  it('takes what is named', () => {
    expect(resolveDevices('cpu', TWO_GPUS)).to.deep.equal(['cpu']);
    expect(resolveDevices('cuda', TWO_GPUS)).to.deep.equal(['cuda:0']);
    expect(resolveDevices('cuda:1', TWO_GPUS)).to.deep.equal(['cuda:1']);
    expect(resolveDevices('cuda:1,0', TWO_GPUS)).to.deep.equal(['cuda:1', 'cuda:0']);
    expect(resolveDevices('cuda:0,0,00', TWO_GPUS)).to.deep.equal(['cuda:0']);
  });

  it('never falls back, and says what is there', () => {
    expect(() => resolveDevices('cuda', CPU_ONLY)).to.throw(
      'Device "cuda" is not available (cuda:0): this build has no CUDA (build it with VERBATIM_CUDA=ON where nvcc and ' +
        'cuBLAS are installed).',
    );
    expect(() => resolveDevices('cuda', CUDA_BUILD_WITHOUT_GPU)).to.throw(/there is cpu\./);
    expect(() => resolveDevices('cuda:0,2', TWO_GPUS)).to.throw(/\(cuda:2\): there is cpu, cuda:0, cuda:1\./);
  });
});
