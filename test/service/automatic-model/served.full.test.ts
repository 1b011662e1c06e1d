/** `verbatim serve` that finds its model by itself: at a hub of this machine, which has a model of random weights. */
import { existsSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/package-root.js';
import { writeSpeeds } from '../../../src/service/automatic-model/speed-file.js';
import { CHECK_CLIP } from '../../../src/service/model-check.js';
import { readConfig } from '../../../src/service/config.js';
import { runCommand } from '../../support/cli.js';
import { ModelHub } from '../../support/model-hub.js';
import { transcribe } from '../../support/requests.js';
import { Served, workplace } from '../../support/served.js';
import { until } from '../../support/until.js';
import { smallModel } from '../../support/small-model.js';

const NAME = 'tiny-q8_0';
const MIB = 1 << 20;
/** Answers by their status and their warning. */
const DEMONSTRATION = '200 demonstration_model';
const REAL = '200 without a warning';

interface Readiness {
  model: string;
  next_model: { name: string; phase: string; received_bytes: number; problem: string | null } | null;
}

describe('verbatim serve, without a model that anybody chose', function () {
  this.timeout(240_000);
  let content: Buffer;
  let hub: ModelHub;
  let servers: Served[];

  before(async () => void (content = await smallModel()));
  beforeEach(async () => {
    hub = await ModelHub.start(content);
    hub.register([NAME], { languages: 'whisper' });
    servers = [];
  });
  afterEach(async () => {
    hub.release();
    await Promise.all(servers.map((server) => server.stop()));
    await hub.close();
  });

  /** On a machine that is known to carry this model and no larger one. */
  async function start(environment: Readonly<Record<string, string>> = {}, directory = workplace()): Promise<Served> {
    const settings = { VERBATIM_DATA_DIR: join(directory, 'data'), VERBATIM_MODELS_DIR: hub.directory };
    writeSpeeds(readConfig(settings, packageRoot), { 'base-q8_0': 1, [NAME]: 20 });
    const served = Served.start(
      { ...settings, VERBATIM_AUTO_MODEL: '', HF_ENDPOINT: hub.url, ...environment },
      directory,
    );
    servers.push(served);
    return served.listening();
  }

  const readiness = async ({ url }: Served): Promise<Readiness> =>
    (await (await fetch(`${url}/readyz`)).json()) as Readiness;
  const serves = (served: Served, name: string): Promise<void> =>
    until(async () => (await readiness(served)).model === name);
  const fetching = /^Fetching tiny-q8_0, \d+ MB, in the background; until then the demonstration model answers\.$/m;

  it('fetches one and puts it in service without a failed request, and serves it from then on', async () => {
    hub.sentBytes = MIB;
    const served = await start();
    const key = await served.key();
    await until(async () => (await readiness(served)).next_model?.received_bytes === MIB);
    expect((await readiness(served)).next_model).to.include({ name: NAME, phase: 'downloading', problem: null });
    expect(served.stdout).to.match(fetching);
    expect(served.stdout).to.contain('In the background, the server chooses').and.not.contain('models pull');
    const status = await runCommand(['models', 'status'], { VERBATIM_DATA_DIR: join(served.directory, 'data') });
    expect(status.stdout).to.match(/verbatim-small .*tiny-q8_0 +downloading/);
    const answers = new Map<string, number>();
    const clip = readFileSync(CHECK_CLIP.path);
    const ask = async (): Promise<void> => {
      const { status, body } = await transcribe(served, {
        key,
        parts: [
          ['language', 'es'],
          ['audio', clip],
        ],
      });
      const [warning] = (body['warnings'] ?? []) as { code: string }[];
      const kind = `${status} ${warning?.code ?? 'without a warning'}`;
      answers.set(kind, (answers.get(kind) ?? 0) + 1);
    };
    await ask();
    expect([...answers.keys()]).to.deep.equal([DEMONSTRATION]);
    hub.release();
    const clients = [1, 2, 3].map(async () => {
      while (!answers.has(REAL)) await ask();
    });
    await Promise.all(clients);
    expect([...answers.keys()]).to.have.members([DEMONSTRATION, REAL]);
    expect(await readiness(served)).to.deep.include({ model: NAME, next_model: null });
    expect(served.stdout).to.contain('tiny-q8_0 serves now.');

    served.child.kill('SIGTERM');
    await once(served.child, 'close');
    const again = await start({}, served.directory);
    expect(await readiness(again)).to.deep.include({ model: NAME, next_model: null });
    expect(again.stdout).not.to.contain('Fetching');
    expect(hub.starts).to.deep.equal([0]);
  });

  it('fetches it once for two servers that share a directory of models', async () => {
    hub.sentBytes = MIB;
    const both = await Promise.all([start(), start()]);
    await until(() => both.every(({ stdout }) => fetching.test(stdout)));
    hub.release();
    await Promise.all(both.map((served) => serves(served, NAME)));
    expect(hub.starts).to.deep.equal([0]);
  });

  it('says once what a hub that is not there means, and serves the demonstration model', async () => {
    const served = await start({ HF_ENDPOINT: 'http://127.0.0.1:9' });
    await until(async () => (await readiness(served)).next_model?.phase === 'waiting');
    expect((await readiness(served)).next_model?.problem).to.contain('http://127.0.0.1:9 cannot be reached');
    const warnings = served.stderr.split('\n').filter((line) => line.includes('cannot be reached'));
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.contain('models import').and.contain('HF_ENDPOINT');
    expect(served.stdout).not.to.contain('Fetching');
  });

  it('does not serve a file that is not the publisher’s', async () => {
    hub.register([NAME], { languages: 'whisper', sha1: '0'.repeat(40) });
    const served = await start();
    await until(async () => (await readiness(served)).next_model?.phase === 'waiting');
    expect((await readiness(served)).next_model?.problem).to.match(/has sha1 [0-9a-f]{40} instead of 0{40}/);
    expect(existsSync(join(hub.directory, `ggml-${NAME}.bin`))).to.equal(false);
  });

  it('leaves it at a directory of models that cannot be written to', async () => {
    const served = await start({ VERBATIM_MODELS_DIR: '/proc/models' });
    await until(() => served.stderr.includes('name another in VERBATIM_MODELS_DIR'));
    expect(await readiness(served)).to.deep.include({ model: 'verbatim-small', next_model: null });
  });

  it('looks for none with a database that an older version made, and says how to', async () => {
    const directory = workplace();
    const made = await runCommand(['accounts', 'create', '--email', 'a@example.com'], {
      VERBATIM_DATA_DIR: join(directory, 'data'),
    });
    expect(made.status, made.stderr).to.equal(0);
    const served = await start({}, directory);
    await until(() => served.stderr.includes('no model is chosen automatically'));
    expect(served.stderr).to.contain('VERBATIM_AUTO_MODEL=on allows it');
    expect((await readiness(served)).next_model).to.equal(null);
    served.child.kill('SIGTERM');
    await once(served.child, 'close');
    await serves(await start({ VERBATIM_AUTO_MODEL: 'on' }, directory), NAME);
  });

  it('looks for none where the bundled model is asked for', async () => {
    for (const settings of [{ VERBATIM_MODEL: 'bundled' }, { VERBATIM_AUTO_MODEL: 'off' }]) {
      const served = await start(settings);
      await until(() => served.stderr.includes('is a demonstration'));
      expect(await readiness(served)).to.deep.include({ model: 'verbatim-small', next_model: null });
    }
    expect(hub.starts).to.deep.equal([]);
  });
});
