/**
 * A model of one family takes the place of one of another while the service runs: what may be asked changes with it.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { startEngineProcess, type EngineProcess } from '../../support/engine-process.js';
import { importParakeet } from '../../support/parakeet-model.js';
import { call, transcribe, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { sample } from '../../support/speech.js';
import { until } from '../../support/until.js';

const WHISPER = 'verbatim-small';
const PARAKEET = 'parakeet-small';
const CLIP = sample('en-wav16.wav');
const ENGLISH = ['tomorrow', 'it', 'will', 'rain', 'because', 'of', 'the', 'weather'];

describe('HTTP: a model of another family takes the place of the one that serves', () => {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-family-swap-'));
  let process_: EngineProcess;
  let server: TestServer<Pick<SpeechEngine, 'info' | 'stats'>>;
  let customer: Customer;

  const send = (...parts: Part[]) =>
    transcribe(server, { key: customer.key, parts: [['audio', readFileSync(CLIP.path)], ...parts] });
  async function use(name: string): Promise<void> {
    const { models } = process_.engines;
    models.use(name, 'a test');
    await until(() => models.state().change === null);
    expect(models.state()).to.deep.include({ serving: name, last: { to: name, error: null } });
  }

  before(async () => {
    const { VERBATIM_MODELS_DIR } = await importParakeet(directory, ENGLISH);
    process_ = await startEngineProcess({
      VERBATIM_MODELS_DIR: VERBATIM_MODELS_DIR!,
      VERBATIM_DATA_DIR: directory,
      VERBATIM_DEVICE: 'cpu',
    });
    const { engines } = process_;
    server = await TestServer.start({ engine: engines.speech, engines });
    customer = await server.customer(1000);
  });
  after(async () => {
    await server.dispose();
    rmSync(directory, { recursive: true, force: true });
  });

  async function expectWhisper(): Promise<void> {
    const { status, body } = await send(['prompt', 'Verbatim']);
    expect([status, body['text'], body['language']]).to.deep.equal([200, CLIP.text, 'en']);
    const unknown = await send(['language', 'fi']);
    expect([unknown.status, unknown.error?.code]).to.deep.equal([422, 'unsupported_language']);
  }

  it('answers as each of them does, refuses what it cannot, and goes back', async () => {
    await expectWhisper();
    await use(PARAKEET);
    const { status, body } = await send(['timestamps', 'word']);
    expect([status, body['language']]).to.deep.equal([200, 'en']);
    for (const { word } of body['words'] as { word: string }[]) expect(ENGLISH).to.include(bare(word));
    expect((await send(['language', 'fi'])).body['language']).to.equal('fi');
    const prompted = await send(['prompt', 'Verbatim']);
    expect([prompted.status, prompted.error?.param]).to.deep.equal([400, 'prompt']);
    expect((await send(['language', 'de'])).status).to.equal(422);
    const { body: listed } = await call(server, '/v1/models', { headers: bearer(customer.key) });
    const models = listed['data'] as { id: string; loaded: boolean }[];
    expect(models.map(({ id, loaded }) => [id, loaded])).to.deep.equal([
      [PARAKEET, true],
      [WHISPER, false],
    ]);
    await use(WHISPER);
    await expectWhisper();
    expect(await server.ledger.audit()).to.deep.equal([]);
  });
});

/** Its last letters, in lower case: pieces are joined where none of them begins a word. */
function bare(word: string): string {
  return word.toLowerCase().replace(/[^a-z]/g, '');
}
