import { expect } from 'chai';
import type { AutomaticModelState } from '../../../src/models/automatic-model.js';
import type { ModelState } from '../../../src/models/model-switch.js';
import type { StoredModel, StoredModelState } from '../../../src/models/model-store.js';
import { browserOf, buildDashboard, type HttpBrowser } from '../../support/dashboard.js';
import { FakeEngine } from '../../support/fake-engine.js';
import { fixedEngines } from '../../../src/transcription/engine-lease.js';
import { TestServer } from '../../support/server.js';

const PAGES = ['/dashboard', '/dashboard/try'];
const LOAD_PAGE = '/dashboard/operator/load';
const TITLE = 'The demonstration model is in use';

describe('dashboard: the note about the demonstration model', () => {
  let server: TestServer;
  let engine: FakeEngine;
  let stored: StoredModel[];
  let state: Partial<ModelState>;
  let downloads: string[];
  let operator: HttpBrowser;
  let search: AutomaticModelState | null;

  const model = (name: string, modelState: StoredModelState, kind = 'speech'): StoredModel => ({
    ...{ name, kind, licence: 'MIT', state: modelState },
    ...{ receivedBytes: 0, totalBytes: 81_768_585, problem: modelState === 'failed' ? 'The hub is gone.' : null },
  });

  before(buildDashboard);
  beforeEach(async () => {
    engine = new FakeEngine();
    engine.info.isDemonstration = true;
    stored = [model(engine.info.modelName, 'installed'), model('base-q8_0', 'available')];
    state = {};
    search = null;
    downloads = [];
    const serving = { serving: engine.info.modelName, since: 0, afterRestart: engine.info.modelName };
    server = await TestServer.start({
      engine,
      engines: {
        acquire: fixedEngines(engine, undefined),
        backlog: engine.backlog,
        models: { state: () => ({ ...serving, change: null, last: null, ...state }), use: () => undefined },
      },
      automaticModel: () => search,
      modelStore: { list: () => stored, download: (name) => void downloads.push(name), cancel: () => false },
    });
    const { id } = await server.ledger.accounts.create({ email: 'op@example.com' });
    operator = await browserOf(server, await server.ledger.access.setRole(id, 'operator'));
  });
  afterEach(() => server.dispose());

  const notes = (browser: HttpBrowser, pages = PAGES): Promise<string[]> =>
    Promise.all(
      pages.map(async (path) => {
        const { text } = await browser.get(path);
        return /<section class="note">.*?<\/section>/s.exec(text)?.[0].replace(/\s+/g, ' ') ?? '';
      }),
    );

  it('is on the first page and where a recording is tried, for everybody', async () => {
    const { account } = await server.customer();
    for (const note of await notes(await browserOf(server, account))) {
      expect(note).to.contain(TITLE).and.contain('phrase book').and.contain('The operator of this service');
      expect(note).not.to.contain('<form').and.not.contain('/operator/');
    }
  });

  it('is nowhere once a real model serves', async () => {
    engine.info.isDemonstration = false;
    expect(await notes(operator)).to.deep.equal(['', '']);
  });

  it('has a button for operators that fetches a real model', async () => {
    for (const note of await notes(operator)) {
      expect(note).to.contain('Download base-q8_0 (78 MiB)').and.not.contain('The operator of this service');
    }
    const [, action] = /action="([^"]+)"/.exec((await notes(operator))[0] ?? '') ?? [];
    const { status, headers } = await operator.post(action ?? '');
    expect([status, headers.get('location')]).to.deep.equal([303, '/dashboard/operator/models?notice=download-begun']);
    expect(downloads).to.deep.equal(['base-q8_0']);
  });

  it('follows the server that looks for a model by itself, on the load page as well', async () => {
    const note = async (): Promise<string> => (await notes(operator, [LOAD_PAGE]))[0] ?? '';
    search = { phase: 'measuring', model: null, problem: null };
    expect(await note())
      .to.contain('is measuring which published model is fast enough on this machine')
      .and.not.contain('<form');
    search = { phase: 'waiting', model: null, problem: 'The hub <b>is gone' };
    expect(await note())
      .to.contain('tries again every hour. The hub &lt;b&gt;is gone.')
      .and.contain('Download base-q8_0');
    stored = [model('base-q8_0', 'available'), model('small', 'failed')];
    search = { phase: 'waiting', model: 'small', problem: 'The hub is gone' };
    expect(await note())
      .to.contain('Download small')
      .and.not.contain('Download base-q8_0');
    search = { phase: 'downloading', model: 'small', problem: null };
    stored = [{ ...model('small', 'downloading'), receivedBytes: 20 << 20 }];
    expect(await note()).to.contain('small is being downloaded: 20 of 78 MiB.');
    search = { phase: 'ended', model: null, problem: 'This machine is too slow' };
    stored = [model('base-q8_0', 'available')];
    expect(await note())
      .to.contain('Download base-q8_0')
      .and.not.contain('too slow');
  });

  it('offers the next step of whatever state the models are in', async () => {
    const noteWith = async (...models: StoredModel[]): Promise<string> => {
      stored = [model(engine.info.modelName, 'installed'), ...models];
      return (await notes(operator))[0] ?? '';
    };
    expect(await noteWith(model('base-q8_0', 'failed'))).to.contain('Download base-q8_0');
    expect(await noteWith(model('base-q8_0', 'downloading'))).to.contain('base-q8_0 is being downloaded: ');
    expect(await noteWith(model('small', 'checking'))).to.contain('small is being downloaded: ');
    const installed = await noteWith(model('base-q8_0', 'available'), model('small', 'installed'));
    expect(installed).to.contain('Use small').and.contain('/small/use"').and.not.contain('Download');
    const translator = await noteWith(model('opus-de-en', 'installed', 'translation'));
    expect(translator).not.to.contain('<form');
    expect(translator).to.contain('All models');
    state = { change: { phase: 'starting', from: engine.info.modelName, to: 'small', requests: 0 } };
    expect(await noteWith(model('small', 'installed')))
      .to.contain('small is being loaded.')
      .and.not.contain('<form');
  });
});
