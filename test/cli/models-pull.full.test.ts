/** `verbatim models pull` without a name, with and without a terminal, from a hub of this machine. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';
import { readSpeeds, writeSpeeds } from '../../src/service/automatic-model/speed-file.js';
import { readConfig } from '../../src/service/config.js';
import { runCommand, type CommandResult } from '../support/cli.js';
import { ModelHub } from '../support/model-hub.js';
import { COLUMNS, Terminal } from '../support/terminal.js';

const NAME = 'tiny-q8_0';
const FILE = `ggml-${NAME}.bin`;

describe('verbatim models pull without a name', function () {
  this.timeout(240_000);
  let directory: string;
  let hub: ModelHub;
  let settings: Record<string, string>;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-pull-'));
    hub = await ModelHub.start();
    hub.register([NAME]);
    settings = { VERBATIM_DATA_DIR: join(directory, 'data'), VERBATIM_MODELS_DIR: hub.directory, HF_ENDPOINT: hub.url };
  });
  afterEach(async () => {
    await hub.close();
    rmSync(directory, { recursive: true });
  });

  const isInstalled = (): boolean => existsSync(join(hub.directory, FILE));
  /** As a machine that carries this model and no larger one. */
  const measure = (): void => writeSpeeds(readConfig(settings, packageRoot), { 'base-q8_0': 1, [NAME]: 7.24 });
  const pull = (...words: string[]): Promise<CommandResult> => runCommand(['models', 'pull', ...words], settings);

  it('says what it would pull and how, where there is nobody to ask', async () => {
    measure();
    expect(await pull()).to.deep.equal({
      status: 2,
      stdout: '',
      stderr:
        'verbatim: tiny-q8_0, 3.1 MB, is the best published model for this machine: it runs at 7.2 times real time ' +
        'here. Run: npx verbatim models pull --yes\n',
    });
    expect((await pull('--json')).status).to.equal(2);
    expect(hub.starts).to.deep.equal([]);
  });

  it('pulls it with --yes, and says so in lines of JSON', async () => {
    measure();
    const { status, stdout } = await pull('--yes', '--json');
    expect(status).to.equal(0);
    const last: unknown = JSON.parse(stdout.trimEnd().split('\n').at(-1)!);
    expect(last).to.deep.equal({ installed: NAME, downloaded: true });
    expect(await pull()).to.deep.equal({
      status: 0,
      stdout: `${NAME} is installed and verified already\n`,
      stderr: '',
    });
    expect(hub.starts).to.deep.equal([0]);
  });

  it('measures nothing and asks for nothing where the hub does not answer', async () => {
    settings['HF_ENDPOINT'] = 'http://127.0.0.1:9';
    const { status, stdout, stderr } = await pull('--yes');
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.match(/^verbatim: The model hub http:\/\/127\.0\.0\.1:9 cannot be reached \(.*\)\n$/);
  });

  it('says so where the machine is too slow for all', async () => {
    writeSpeeds(readConfig(settings, packageRoot), { 'base-q8_0': 1, [NAME]: 2.4 });
    const { status, stderr } = await pull('--yes');
    expect(status).to.equal(1);
    expect(stderr).to.contain(
      'No published model is fast enough on this machine: base-q8_0 would run at 1.0, tiny-q8_0 would run at 2.4',
    );
  });

  it('asks on a terminal, and downloads after a yes, with progress that fits', async () => {
    measure();
    hub.sentBytes = 1 << 20;
    const terminal = Terminal.start(['models', 'pull'], settings);
    await terminal.shows('Download it? [y/N] ');
    expect(hub.starts).to.deep.equal([]);
    terminal.type('y\n');
    await terminal.shows(`${FILE} | 1.0 MB of 3.1 MB`);
    hub.release();
    expect(await terminal.ended(), terminal.written).to.equal(0);
    expect(terminal.written).to.contain(`${NAME} is installed and verified\r\n`);
    const drawn = terminal.drawn.filter((line) => / left$/.test(line));
    expect(drawn).not.to.have.length(0);
    for (const line of drawn) expect(line.length, line).to.be.below(COLUMNS);
    expect(readFileSync(join(hub.directory, FILE)).equals(hub.content)).to.equal(true);
  });

  it('downloads nothing after a no, or after Ctrl-C', async () => {
    measure();
    const answered = async (typed: string): Promise<number | null> => {
      const terminal = Terminal.start(['models', 'pull'], settings);
      await terminal.shows('[y/N] ');
      terminal.type(typed);
      return terminal.ended();
    };
    expect(await answered('\n')).to.equal(1);
    expect(await answered('\x04')).to.equal(1);
    expect(await answered('\x03')).to.equal(130);
    expect(hub.starts).to.deep.equal([]);
    expect(isInstalled()).to.equal(false);
  });

  it('measures a machine that was not measured before, and says so; Ctrl-C ends that', async () => {
    const terminal = Terminal.start(['models', 'pull'], settings);
    await terminal.shows('Measuring the speed of this machine first');
    terminal.type('\x03');
    expect(await terminal.ended()).to.equal(130);
    expect(readSpeeds(readConfig(settings, packageRoot))).to.equal(null);
    expect(hub.starts).to.deep.equal([]);
  });
});
