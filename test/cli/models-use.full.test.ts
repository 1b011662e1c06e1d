/** `verbatim models use` against a server's socket, and once against a server. */
import { expect } from 'chai';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { controlPrefix, startControl, type Control } from '../../src/service/control.js';
import { runCommand, type CommandResult } from '../support/cli.js';
import { FakeModelSwitch } from '../support/fake-model-switch.js';
import { call } from '../support/requests.js';
import { Served } from '../support/served.js';
import { SwappedModels } from '../support/swapped-models.js';
import { until } from '../support/until.js';

describe('verbatim models use', () => {
  let directory: string;
  let controls: Control[];
  let ledger: Ledger;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-use-'));
    controls = [];
    ledger = openLedger({ path: join(directory, 'verbatim.db') });
  });
  afterEach(async () => {
    await Promise.all(controls.map((control) => control.close()));
    await ledger.close();
    rmSync(directory, { recursive: true });
  });

  const dataDir = (): string => join(directory, 'data');
  const serve = async (models: FakeModelSwitch, port = 8080): Promise<void> => {
    const { operators } = ledger;
    controls.push(await startControl({ dataDir: dataDir(), port, models, operators, automaticModel: () => null }));
  };
  const use = (words: string[], environment: Record<string, string> = {}): Promise<CommandResult> =>
    runCommand(['models', 'use', ...words], { VERBATIM_DATA_DIR: dataDir(), ...environment });
  /** With how the change ends that it begins. */
  const useAndEnd = async (
    models: FakeModelSwitch,
    end: Parameters<FakeModelSwitch['end']>,
    words = ['base'],
  ): Promise<CommandResult> => {
    const running = use(words);
    await until(() => models.asked.length > 0);
    models.end(...end);
    return running;
  };

  it('waits until the model serves, and says what the next start serves', async () => {
    const models = new FakeModelSwitch('small');
    await serve(models);
    const result = await useAndEnd(models, [null]);
    expect(result).to.deep.equal({
      status: 0,
      stdout: 'base has replaced small, also after a restart\n',
      stderr: '',
    });
    expect(models.asked).to.deep.equal([{ name: 'base', by: 'the command line' }]);
  });

  it('says that VERBATIM_MODEL of the server is served by the next start', async () => {
    const models = new FakeModelSwitch('small');
    await serve(models);
    const { stdout } = await useAndEnd(models, [null, 'small']);
    expect(stdout).to.equal(
      'base has replaced small, until the server is started again: its VERBATIM_MODEL is small\n',
    );
  });

  it('fails with the reason when the model is refused, at once or later', async () => {
    const models = new FakeModelSwitch('small');
    await serve(models);
    const { status, stderr } = await use(['small']);
    expect({ status, stderr }).to.deep.equal({ status: 1, stderr: 'verbatim: "small" serves already.\n' });
    const later = await useAndEnd(models, ['"base" detects nothing.']);
    expect(later).to.deep.equal({
      status: 1,
      stdout: '',
      stderr: 'verbatim: "small" serves on. "base" detects nothing.\n',
    });
  });

  it('is in the operators’ log, also where it is refused', async () => {
    const models = new FakeModelSwitch('small');
    await serve(models);
    await use(['small']);
    await useAndEnd(models, [null]);
    const noted = await ledger.operators.list({ limit: 9, before: null });
    expect(
      noted.map(({ operatorId, action, subject, outcome }) => [operatorId, action, subject, outcome]),
    ).to.deep.equal([
      [null, 'model-used', 'base', 'done'],
      [null, 'model-used', 'small', 'refused'],
    ]);
  });

  it('fails where no server of the directory runs, though one was killed there', async () => {
    const { status, stderr } = await use(['base']);
    expect(status).to.equal(1);
    expect(stderr).to.contain(`No server of the data directory "${dataDir()}" answers on this machine`);
    mkdirSync(dataDir());
    writeFileSync(join(dataDir(), `${controlPrefix()}8080.sock`), '');
    expect((await use(['base'])).stderr).to.contain('answers on this machine');
    const models = new FakeModelSwitch('small');
    await serve(models);
    expect((await useAndEnd(models, [null])).status).to.equal(0);
  });

  it('asks which server is meant where several share the directory', async () => {
    const one = new FakeModelSwitch('small');
    const other = new FakeModelSwitch('small');
    await serve(one, 9001);
    await serve(other, 9002);
    const { status, stderr } = await use(['base']);
    expect(status).to.equal(1);
    expect(stderr).to.contain('Servers on the ports 9001, 9002 share the data directory');
    const running = use(['base'], { VERBATIM_PORT: '9002' });
    await until(() => other.asked.length > 0);
    other.end(null);
    expect((await running).status).to.equal(0);
    expect(one.asked).to.deep.equal([]);
  });

  it('opens its socket to the own user alone, and leaves none behind', async () => {
    await serve(new FakeModelSwitch('small'));
    const [socket = ''] = readdirSync(dataDir());
    expect(statSync(join(dataDir(), socket)).mode & 0o777).to.equal(0o600);
    await controls.pop()?.close();
    expect(readdirSync(dataDir())).to.deep.equal([]);
  });

  it('changes the model of a server that runs, and of the next one', async () => {
    const models = new SwappedModels();
    const environment = { ...models.environment, VERBATIM_DEVICE: 'cpu', VERBATIM_SLOTS: '1' };
    const first = await Served.start(environment).listening();
    let second: Served | null = null;
    const served = async (server: Served): Promise<unknown> => (await call(server, '/readyz')).body['model'];
    try {
      expect(await served(first)).to.equal('verbatim-small');
      const { status, stdout, stderr } = await runCommand(['models', 'use', 'mine'], models.environment);
      expect(status, stderr).to.equal(0);
      expect(stdout).to.contain('mine has replaced verbatim-small, also after a restart');
      expect(await served(first)).to.equal('mine');
      first.child.kill('SIGTERM');
      await once(first.child, 'close');
      expect(readdirSync(models.dataDir).filter((name) => name.endsWith('.sock'))).to.deep.equal([]);
      second = await Served.start(environment).listening();
      expect(await served(second)).to.equal('mine');
      expect(existsSync(join(models.dataDir, 'model.json'))).to.equal(true);
    } finally {
      await first.stop();
      await second?.stop();
      models.remove();
    }
  });
});
