import { expect } from 'chai';
import { eachDevice, resolveDevices } from '../../src/engine/devices.js';
import { onlyDevice, seeingOnly } from '../../src/engine/only-device.js';
import { FakeBinding } from './fake-binding.js';
import { FakeClock } from './fake-clock.js';

const machine = (...devices: string[]): FakeBinding => new FakeBinding(new FakeClock(), { devices });

describe('A process that has one of several devices to itself', () => {
  it('has one for each that a setting names', () => {
    expect(eachDevice('cuda:0,1')).to.deep.equal(['cuda:0', 'cuda:1']);
    expect(eachDevice('cuda:3,03,1')).to.deep.equal(['cuda:3', 'cuda:1']);
    for (const one of ['auto', 'cpu', 'cuda', 'cuda:2']) expect(eachDevice(one)).to.deep.equal([one]);
  });

  it('sees that one alone, of those that this process sees', () => {
    expect(seeingOnly('cuda:1', {})).to.deep.equal({ CUDA_VISIBLE_DEVICES: '1' });
    expect(seeingOnly('cuda:1', { CUDA_VISIBLE_DEVICES: '4, GPU-8a1c' })).to.deep.equal({
      CUDA_VISIBLE_DEVICES: 'GPU-8a1c',
    });
    expect(seeingOnly('cuda:2', { CUDA_VISIBLE_DEVICES: '4,5' })).to.deep.equal({ CUDA_VISIBLE_DEVICES: '' });
    expect(seeingOnly('cpu', { CUDA_VISIBLE_DEVICES: '4,5' })).to.deep.equal({});
  });

  it('calls it by its name on the machine', async () => {
    const fake = machine('cpu', 'cuda:0');
    const own = onlyDevice(fake, 'cuda:3');
    expect(own.devices().map(({ id }) => id)).to.deep.equal(['cpu', 'cuda:3']);
    expect(resolveDevices('cuda:3', own)).to.deep.equal(['cuda:3']);
    const models = [
      await own.loadSpeechModel('a.bin', { device: 'cuda:3' }),
      await own.loadRecogniser('a.bin', { device: 'cuda:3' }),
    ];
    expect(models.map(({ info }) => info.device)).to.deep.equal(['cuda:3', 'cuda:3']);
    expect(fake.loadOptions.map(({ device }) => device)).to.deep.equal(['cuda:0', 'cuda:0']);
    const slot = await own.loadSpeechModel('a.bin', { device: 'cpu' });
    expect(slot.info.device).to.equal('cpu');
    expect(own.heldBytes()).to.equal(fake.heldBytes());
  });

  it('says that it is not there where nothing is seen', () => {
    const own = onlyDevice(machine('cpu'), 'cuda:3');
    expect(() => resolveDevices('cuda:3', own)).to.throw('Device "cuda:3" is not available (cuda:3)');
  });

  it('has the processor as it is', () => {
    const fake = machine('cpu', 'cuda:0');
    expect(onlyDevice(fake, 'cpu')).to.equal(fake);
  });
});
