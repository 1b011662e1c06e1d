/** The operator's downloads: the command line's `models pull` in processes of their own, from a hub on this machine. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { StoredModel } from '../../src/models/model-store.js';
import { ModelDownloads } from '../../src/service/model-downloads.js';
import { ModelHub } from '../support/model-hub.js';
import { until } from '../support/until.js';

const NAME = 'toy';

describe('downloads of models', function () {
  this.timeout(240_000);
  let hub: ModelHub;
  let downloads: ModelDownloads;
  let logged: string[];

  beforeEach(async () => {
    hub = await ModelHub.start();
    hub.register([NAME, 'other', 'third']);
    logged = [];
    downloads = new ModelDownloads({
      context: hub.context,
      logger: {
        info: (fields: { problem?: string }) => {
          if (fields.problem !== undefined) logged.push('info');
        },
        warn: () => void logged.push('warn'),
      },
    });
  });
  afterEach(async () => {
    await downloads.close();
    await hub.close();
  });

  const model = (name = NAME): StoredModel => {
    const found = downloads.list().find((one) => one.name === name);
    if (found === undefined) throw new Error(`There is no ${name}.`);
    return found;
  };
  const file = 'ggml-toy.bin';
  const onDisk = (name: string): boolean => existsSync(join(hub.directory, name));
  const refusal = (name: string): string => {
    try {
      downloads.download(name);
    } catch (error) {
      return (error as Error).message;
    }
    return 'none';
  };

  it('report how far they are, and end with a model that is whole', async () => {
    expect(model()).to.include({ state: 'available', receivedBytes: 0, totalBytes: 3 << 20 });
    hub.sentBytes = 1 << 20;
    downloads.download(NAME);
    expect(model().state).to.equal('downloading');
    await until(() => model().receivedBytes === 1 << 20);
    expect(onDisk(file)).to.equal(false);
    hub.release();
    await until(() => model().state === 'installed');
    expect(readFileSync(join(hub.directory, file)).equals(hub.content)).to.equal(true);
  });

  it('leave what they have when they are cancelled, and the next goes on from there', async () => {
    hub.sentBytes = 1 << 20;
    downloads.download(NAME);
    await until(() => model().receivedBytes === 1 << 20);
    expect(downloads.cancel(NAME)).to.equal(true);
    await until(() => model().state === 'available');
    expect(downloads.cancel(NAME)).to.equal(false);
    const { receivedBytes } = model();
    expect(receivedBytes).to.be.within(1, 1 << 20);
    expect(onDisk(file)).to.equal(false);
    hub.release();
    downloads.download(NAME);
    await until(() => model().state === 'installed');
    expect(hub.starts.at(-1)).to.equal(receivedBytes);
  });

  it('fail with a sentence when the hub dies midway, and go on from there when they are tried again', async () => {
    hub.sentBytes = 1 << 20;
    hub.isBroken = true;
    downloads.download(NAME);
    await until(() => model().state === 'failed');
    expect(model().problem).not.to.equal('');
    expect(model().receivedBytes).to.be.within(1, 1 << 20);
    expect(onDisk(file)).to.equal(false);
    hub.isBroken = false;
    hub.release();
    downloads.download(NAME);
    await until(() => model().state === 'installed');
    expect(model().problem).to.equal(null);
  });

  it('refuse a file that is not what was promised, and install nothing', async () => {
    hub.register([NAME], { sha1: '0'.repeat(40) });
    downloads.download(NAME);
    await until(() => model().state === 'failed');
    expect(model().problem).to.match(/has sha1 [0-9a-f]{40} instead of 0{40}/);
    expect(onDisk(file)).to.equal(false);
    expect(model().receivedBytes).to.equal(0);
  });

  it('warn of the same problem once', async () => {
    for (const sha1 of ['0', '0', '1']) {
      hub.register([NAME], { sha1: sha1.repeat(40) });
      downloads.download(NAME);
      await until(() => model().state === 'failed');
    }
    expect(logged).to.deep.equal(['warn', 'info', 'warn']);
  });

  it('are two at once, of what there is to be had; closing ends them', async () => {
    expect(refusal('toys')).to.match(/^There is no model "toys"\. The nearest names are toy, /);
    expect(refusal('verbatim-small')).to.contain('"verbatim-small" is installed already');
    hub.sentBytes = 1;
    for (const name of [NAME, 'other']) downloads.download(name);
    expect(refusal(NAME)).to.contain('"toy" is being downloaded already');
    expect(refusal('third')).to.contain('2 models are being downloaded');
    await downloads.close();
    expect(model().state).to.equal('available');
    expect(refusal('third')).to.contain('shutting down');
    hub.register(['mine'], { url: undefined });
    expect(model('mine').state).to.equal('unavailable');
  });

  it('of an imported model are refused by name', () => {
    hub.register(['mine'], { url: undefined });
    expect(refusal('mine')).to.contain('"mine" is bundled or imported');
  });
});
