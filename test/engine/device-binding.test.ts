import { expect } from 'chai';
import type { DeviceInfo, NativeAddon } from '../../src/engine/binding.js';
import { loadBindingFor, loadBindingOfAllDevices, type Addons } from '../../src/engine/device-binding.js';
import { FakeBinding } from './fake-binding.js';
import { FakeClock } from './fake-clock.js';

type Listed = Pick<DeviceInfo, 'id' | 'type'>;

const CPU: Listed = { id: 'cpu', type: 'processor' };

/** An addon that lists these devices, and is compared by identity. */
function addon(...devices: Listed[]): NativeAddon {
  const { build } = new FakeBinding(new FakeClock(), {});
  return {
    build,
    devices: () => [CPU, ...devices].map((device) => ({ ...device, name: '', memoryBytes: 1 })),
  } as unknown as NativeAddon;
}

function missingLoader(): never {
  throw new Error('libvulkan.so.1: cannot open shared object file: No such file or directory');
}

describe('The addon for a device', () => {
  const plain = addon();
  const vulkan = addon({ id: 'vulkan:0', type: 'discrete' });
  const both: Addons = { plain: () => plain, vulkan: () => vulkan };

  it('is the only one there is, whatever the device', () => {
    const one: Addons = { plain: () => plain, vulkan: null };
    for (const setting of ['auto', 'cpu', 'cuda', 'vulkan:0']) expect(loadBindingFor(setting, one)).to.equal(plain);
    expect(loadBindingOfAllDevices(one)).to.equal(plain);
  });

  it('is the one with Vulkan for a device of Vulkan, and for none that is named otherwise', () => {
    for (const setting of ['vulkan', 'vulkan:0', 'vulkan:0,1', 'vulkan:software'])
      expect(loadBindingFor(setting, both)).to.equal(vulkan);
    for (const setting of ['cpu', 'cuda', 'cuda:1']) expect(loadBindingFor(setting, both)).to.equal(plain);
    expect(loadBindingOfAllDevices(both)).to.equal(vulkan);
  });

  it('is for "auto" the one that has a card, CUDA first', () => {
    expect(loadBindingFor('auto', both)).to.equal(vulkan);
    const cuda = addon({ id: 'cuda:0', type: 'discrete' });
    expect(loadBindingFor('auto', { ...both, plain: () => cuda })).to.equal(cuda);
    for (const type of ['integrated', 'software'] as const) {
      const other = addon({ id: type === 'software' ? 'vulkan:software' : 'vulkan:0', type });
      expect(loadBindingFor('auto', { ...both, vulkan: () => other })).to.equal(plain);
    }
  });

  it('is the one without Vulkan where the loader is missing, unless Vulkan is named', () => {
    const without: Addons = { plain: () => plain, vulkan: missingLoader };
    expect(loadBindingFor('auto', without)).to.equal(plain);
    expect(loadBindingOfAllDevices(without)).to.equal(plain);
    expect(() => loadBindingFor('vulkan', without)).to.throw(
      "Vulkan's loader, libvulkan.so.1, is missing: install libvulkan1 and the card's Vulkan driver.",
    );
  });

  it('is not another one where it is broken', () => {
    const broken: Addons = {
      plain: () => plain,
      vulkan: () => {
        throw new Error('built for another version');
      },
    };
    for (const setting of ['auto', 'vulkan'])
      expect(() => loadBindingFor(setting, broken)).to.throw('built for another version');
  });
});
