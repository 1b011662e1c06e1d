/** The software device of Vulkan (Debian: mesa-vulkan-drivers), through the addon that `npm run build:vulkan` makes. */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { loadBindingFor, loadBindingOfAllDevices } from '../../src/engine/device-binding.js';
import { resolveDevices } from '../../src/engine/devices.js';
import { verbatim } from '../support/built.js';

/** How a machine without any Vulkan driver looks to the loader. */
const WITHOUT_DRIVER = { VK_ICD_FILENAMES: '/nonexistent', VK_DRIVER_FILES: '/nonexistent' };

function doctor(environment: Readonly<Record<string, string>> = {}): string {
  const { stdout } = spawnSync(process.execPath, verbatim('doctor'), {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  });
  return stdout;
}

describe('A machine with a software device of Vulkan', () => {
  it('lists it with its type, driver and memory, and takes it by its name alone', () => {
    const binding = loadBindingFor('vulkan:software');
    expect(binding.build.vulkan).to.equal(true);
    const device = binding.devices().find(({ id }) => id === 'vulkan:software');
    expect(device).to.deep.include({ type: 'software' });
    expect(device?.name).to.match(/llvmpipe/);
    expect(device?.driver).to.match(/Mesa/);
    expect(device?.memoryBytes).to.be.above(2 ** 28);
    expect(resolveDevices('vulkan:software', binding)).to.deep.equal(['vulkan:software']);
    expect(resolveDevices('auto', binding)).to.not.include('vulkan:software');
  });

  it('is described by the doctor', () => {
    expect(doctor()).to.match(/graphics cards.*vulkan:software llvmpipe.*\(software, [\d.]+ GiB, .*Mesa/);
  });

  it('has no such device without a driver, and the addon loads all the same', () => {
    const list = "process.stdout.write(JSON.stringify(require('./build/Release/verbatim-vulkan.node').devices()))";
    const run = spawnSync(process.execPath, ['-e', list], {
      encoding: 'utf8',
      env: { ...process.env, ...WITHOUT_DRIVER },
    });
    expect(JSON.parse(run.stdout), run.stderr).to.have.length(1);
    expect(doctor(WITHOUT_DRIVER)).to.not.contain('vulkan:');
  });

  it('has devices of Vulkan in the addon with most devices', () => {
    expect(loadBindingOfAllDevices().build.vulkan).to.equal(true);
  });
});
