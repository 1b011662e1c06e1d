import { expect } from 'chai';
import { eachDevice, resolveDevices } from '../../src/engine/devices.js';
import { FakeBinding } from './fake-binding.js';
import { FakeClock } from './fake-clock.js';

type Machine = Pick<FakeBinding, 'devices'> & { build: FakeBinding['build'] };

function machine(devices: string[], cuda: boolean, vulkan = cuda): Machine {
  const fake = new FakeBinding(new FakeClock(), { devices });
  return { devices: () => fake.devices(), build: { ...fake.build, cuda, vulkan } };
}

/** The same, with a device that is no discrete card. */
function withDevice(of: Machine, id: string, type: 'integrated' | 'software'): Machine {
  return { ...of, devices: () => of.devices().map((device) => (device.id === id ? { ...device, type } : device)) };
}

const CPU_ONLY = machine(['cpu'], false);
const CUDA_BUILD_WITHOUT_GPU = machine(['cpu'], true);
const TWO_GPUS = machine(['cpu', 'cuda:0', 'cuda:1'], true);

describe('resolveDevices', () => {
  it('takes the first GPU for auto, or the CPU where there is none', () => {
    expect(resolveDevices('auto', TWO_GPUS)).to.deep.equal(['cuda:0']);
    expect(resolveDevices('auto', CPU_ONLY)).to.deep.equal(['cpu']);
  });

  it('takes a discrete card of Vulkan for auto behind CUDA, and no other device of Vulkan', () => {
    const cards = machine(['cpu', 'vulkan:0', 'vulkan:1'], false, true);
    expect(resolveDevices('auto', cards)).to.deep.equal(['vulkan:0']);
    expect(resolveDevices('auto', machine(['cpu', 'cuda:0', 'vulkan:0'], true))).to.deep.equal(['cuda:0']);
    expect(resolveDevices('auto', withDevice(cards, 'vulkan:0', 'integrated'))).to.deep.equal(['vulkan:1']);
    const graphics = withDevice(machine(['cpu', 'vulkan:0'], false, true), 'vulkan:0', 'integrated');
    expect(resolveDevices('auto', graphics)).to.deep.equal(['cpu']);
    expect(resolveDevices('vulkan', graphics)).to.deep.equal(['vulkan:0']);
    const software = withDevice(machine(['cpu', 'vulkan:software'], false, true), 'vulkan:software', 'software');
    expect(resolveDevices('auto', software)).to.deep.equal(['cpu']);
    expect(() => resolveDevices('vulkan', software)).to.throw(/\(vulkan:0\): there is cpu, vulkan:software\./);
    expect(resolveDevices('vulkan:software', software)).to.deep.equal(['vulkan:software']);
  });

  it('takes what is named', () => {
    expect(resolveDevices('cpu', TWO_GPUS)).to.deep.equal(['cpu']);
    expect(resolveDevices('cuda', TWO_GPUS)).to.deep.equal(['cuda:0']);
    expect(resolveDevices('cuda:1', TWO_GPUS)).to.deep.equal(['cuda:1']);
    expect(resolveDevices('cuda:1,0', TWO_GPUS)).to.deep.equal(['cuda:1', 'cuda:0']);
    expect(resolveDevices('cuda:0,0,00', TWO_GPUS)).to.deep.equal(['cuda:0']);
    const cards = machine(['cpu', 'vulkan:0', 'vulkan:1'], false, true);
    expect(resolveDevices('vulkan', cards)).to.deep.equal(['vulkan:0']);
    expect(resolveDevices('vulkan:1,0', cards)).to.deep.equal(['vulkan:1', 'vulkan:0']);
    expect(eachDevice('vulkan:0,1')).to.deep.equal(['vulkan:0', 'vulkan:1']);
    expect(eachDevice('vulkan:software')).to.deep.equal(['vulkan:software']);
  });

  it('never falls back, and says what is there', () => {
    expect(() => resolveDevices('cuda', CPU_ONLY)).to.throw(
      'Device "cuda" is not available (cuda:0): this build has no CUDA (build it with VERBATIM_CUDA=ON where nvcc and ' +
        'cuBLAS are installed).',
    );
    expect(() => resolveDevices('vulkan:0', CPU_ONLY)).to.throw(
      'Device "vulkan:0" is not available (vulkan:0): this build has no Vulkan (build it with VERBATIM_VULKAN=ON where ' +
        'glslc, libvulkan-dev and spirv-headers are installed).',
    );
    expect(() => resolveDevices('cuda', CUDA_BUILD_WITHOUT_GPU)).to.throw(/there is cpu\./);
    expect(() => resolveDevices('cuda:0,2', TWO_GPUS)).to.throw(/\(cuda:2\): there is cpu, cuda:0, cuda:1\./);
  });
});
