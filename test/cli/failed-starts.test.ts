import { expect } from 'chai';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { failureOf } from '../../src/cli/words.js';
import { loadBinding } from '../../src/engine/binding.js';
import { runCommand } from '../support/cli.js';
import { Served, workplace } from '../support/served.js';

describe('A server that cannot start', function () {
  async function refusal(environment: Record<string, string>, directory = workplace()) {
    const served = Served.start(environment, directory);
    try {
      const status = await served.ended();
      return { status, stderr: served.stderr };
    } finally {
      await served.stop();
    }
  }

  it('says that the model is not installed, how to install it, and which ones are', async () => {
    const directory = workplace();
    const models = join(directory, 'models');
    expect(await refusal({ VERBATIM_MODEL: 'base', VERBATIM_MODELS_DIR: models }, directory)).to.deep.equal({
      status: 1,
      stderr:
        `verbatim: The model "base" is not installed (${join(models, 'ggml-base.bin')}). ` +
        'Install it: npx verbatim models pull base. Installed: verbatim-small.\n',
    });
  });

  it('says that there is no such model, and which ones there are', async () => {
    const { status, stderr } = await refusal({ VERBATIM_MODEL: 'bsae' });
    expect(status).to.equal(1);
    expect(stderr).to.match(/^verbatim: There is no model "bsae"\. The nearest names are base, .*\.\n$/);
  });

  it('says that there is no such device: which there are, or how to build it with CUDA', async () => {
    const binding = loadBinding();
    const there = binding.devices().map(({ id }) => id);
    const reason = binding.build.cuda
      ? `there is ${there.join(', ')}`
      : 'this build has no CUDA (build it with VERBATIM_CUDA=ON where nvcc and cuBLAS are installed)';
    expect(await refusal({ VERBATIM_DEVICE: 'cuda:99' })).to.deep.equal({
      status: 1,
      stderr: `verbatim: Device "cuda:99" is not available (cuda:99): ${reason}.\n`,
    });
  });

  it('says that another program has its port, and how to choose another', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    try {
      expect(await refusal({ VERBATIM_PORT: String(port) })).to.deep.equal({
        status: 1,
        stderr:
          `verbatim: Another program already listens on port ${port} of 127.0.0.1. Stop it, or set another in ` +
          'VERBATIM_PORT (of the agent check: VERBATIM_AGENT_PORT, of Wyoming: VERBATIM_WYOMING_PORT); 0 takes a free one.\n',
      });
    } finally {
      other.close();
    }
  });

  it('says that its address is not one of this machine', async () => {
    const { status, stderr } = await refusal({ VERBATIM_HOST: '192.0.2.1' });
    expect({ status, stderr }).to.deep.equal({
      status: 1,
      stderr:
        'verbatim: VERBATIM_HOST is "192.0.2.1", which is not an address of this machine; 0.0.0.0 takes all of them.\n',
    });
  });

  it('says why its directory cannot be created', async () => {
    const directory = workplace();
    const file = join(directory, 'notes');
    writeFileSync(file, '');
    const { status, stderr } = await refusal({ VERBATIM_DATA_DIR: join(file, 'data') }, directory);
    expect(status).to.equal(1);
    expect(stderr).to.equal(
      `verbatim: The directory "${join(file, 'data')}" cannot be created: a part of the path is a file. ` +
        'Create it for the user who runs this, or name another: VERBATIM_DATA_DIR holds database, uploads and jobs, ' +
        'VERBATIM_MODELS_DIR the models.\n',
    );
  });

  it('says at once that its directory cannot be created where the kernel makes none', async () => {
    const { status, stderr } = await refusal({ VERBATIM_DATA_DIR: '/proc/verbatim/data' });
    expect(status).to.equal(1);
    expect(stderr).to.match(
      /^verbatim: The directory "\/proc\/verbatim" cannot be created: its file system does not allow new dir/,
    );
  });

  for (const [code, why] of [
    ['EACCES', 'permission denied'],
    ['EROFS', 'the file system is read-only'],
  ] as const)
    it(`says "${why}" of a directory that cannot be created (${code}), not that it may not be read`, () => {
      const error = Object.assign(new Error(code), { code, syscall: 'mkdir', path: '/srv/verbatim' });
      const { message, exitCode } = failureOf(error);
      expect(exitCode).to.equal(1);
      expect(message).to.contain(`The directory "/srv/verbatim" cannot be created: ${why}.`);
    });
});

describe('Administration where there is no database', function () {
  const inEmpty = async (...words: string[]) => {
    const directory = workplace();
    const { status, stdout, stderr } = await runCommand(words, { VERBATIM_DATA_DIR: join(directory, 'data') });
    const left = readdirSync(directory);
    rmSync(directory, { recursive: true });
    return { status, stdout, stderr: stderr.replaceAll(directory, ''), left };
  };

  it('lists no accounts, says so, and makes nothing', async () => {
    expect(await inEmpty('accounts', 'list')).to.deep.equal({
      ...{ status: 0, stdout: 'There are no accounts yet.\n', stderr: '', left: [] },
    });
    expect(await inEmpty('accounts', 'list', '--json')).to.include({ status: 0, stdout: '[]\n' });
    expect(await inEmpty('webhooks', 'list', '--json')).to.include({ status: 0, stdout: '[]\n' });
    const none = { status: 0, stdout: 'There are no such messages.\n' };
    expect(await inEmpty('webhooks', 'list')).to.include(none);
  });

  it('refuses what needs an account, and makes nothing', async () => {
    const { status, stderr, left } = await inEmpty('keys', 'list', '--account', 'ada@example.com');
    expect({ status, left }).to.deep.equal({ status: 1, left: [] });
    expect(stderr).to.contain('There is no database "/data/verbatim.db".').and.to.contain('accounts create');
  });

  it('makes it with the first account', async () => {
    const { status, left } = await inEmpty('accounts', 'create', '--email', 'ada@example.com');
    expect({ status, left }).to.deep.equal({ status: 0, left: ['data'] });
  });
});

describe('A translation without its languages', function () {
  for (const [words, missing] of [
    [['--to', 'de'], '--from'],
    [['--from', 'en'], '--to'],
  ] as const)
    it(`says that ${missing} is missing, with an example`, async () => {
      const { status, stderr } = await runCommand(['translate', ...words, 'Good morning']);
      expect({ status, stderr }).to.deep.equal({
        status: 2,
        stderr: `verbatim: ${missing} is missing: translate --from en --to de "Good morning"\n`,
      });
    });
});
