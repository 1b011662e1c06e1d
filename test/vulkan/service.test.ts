/** The service on the software device of Vulkan, from a request to its text. */
import { expect } from 'chai';
import { Served } from '../support/served.js';
import { call } from '../support/requests.js';
import { answerTo } from '../service/setting-rows/effects.js';

const DEVICE = { VERBATIM_DEVICE: 'vulkan:software', VERBATIM_COMPUTE: 'float32' };

async function textOf(served: Served, fields: readonly (readonly [string, string])[] = []): Promise<unknown> {
  const { status, body } = await answerTo(served, 'en-wav16.wav', fields);
  expect(status, JSON.stringify(body)).to.equal(200);
  return body;
}

describe('The service on a device of Vulkan', () => {
  it('answers as on the processor, with words, and names the device', async () => {
    const served = await Served.start(DEVICE).listening();
    const onProcessor = await Served.start({ VERBATIM_DEVICE: 'cpu', VERBATIM_COMPUTE: 'float32' }).listening();
    try {
      const words = [['timestamps', 'word']] as const;
      const found = (await textOf(served, words)) as { text: string; words: object[] };
      const expected = (await textOf(onProcessor, words)) as typeof found;
      expect(found.text).to.equal(expected.text);
      expect(found.words).to.have.length(expected.words.length).above(3);
      const { device } = (await call(served, '/readyz')).body as { device: { ids: string[]; name: string } };
      expect(device.ids).to.deep.equal(['vulkan:software']);
      expect(device.name).to.match(/^llvmpipe.*\(software, [\d.]+ GiB, .*Mesa/);
    } finally {
      await Promise.all([served.stop(), onProcessor.stop()]);
    }
  });

  it('does not start without the device, and says what there is', async () => {
    const environment = { ...DEVICE, VK_ICD_FILENAMES: '/nonexistent', VK_DRIVER_FILES: '/nonexistent' };
    const served = Served.start(environment);
    expect(await served.ended()).to.equal(1);
    expect(served.stderr).to.contain('Device "vulkan:software" is not available (vulkan:software): there is cpu.');
    await served.stop();
  });

  it('does not fall back from a card that is not there', async () => {
    const served = Served.start({ VERBATIM_DEVICE: 'vulkan:9' });
    expect(await served.ended()).to.equal(1);
    expect(served.stderr).to.contain('Device "vulkan:9" is not available (vulkan:9): there is cpu');
    await served.stop();
  });
});
