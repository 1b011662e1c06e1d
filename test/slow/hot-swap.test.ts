/** The speech model is changed again and again under load: SWAPS times (50), 8 clients. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { SpeechEngine } from '../../src/engine/types.js';
import { childrenOf } from '../support/child-processes.js';
import type { EngineProcess } from '../support/engine-process.js';
import { transcribe } from '../support/requests.js';
import { TestServer, type Customer } from '../support/server.js';
import { sample } from '../support/speech.js';
import { SwappedModels } from '../support/swapped-models.js';
import { until } from '../support/until.js';

const SWAPS = Number(process.env['SWAPS'] ?? 50);
const CLIENTS = 8;
const CREDITS = 1_000_000;
const NAMES = ['mine', 'verbatim-small'] as const;
/** Until what is opened once is open. */
const WARM_SWAPS = 2;

const CLIPS = ['en-wav16.wav', 'de-flac.flac', 'es-vbr.mp3'].map((file) => ({
  bytes: readFileSync(sample(file).path),
  text: sample(file).text,
}));

describe(`${SWAPS} changes of the model under ${CLIENTS} clients`, () => {
  const models = new SwappedModels();
  let process_: EngineProcess;
  let server: TestServer<Pick<SpeechEngine, 'info' | 'stats'>>;
  let customer: Customer;
  let isOver = false;
  const failures: string[] = [];
  let answered = 0;

  before(async () => {
    process_ = await models.start();
    const { engines } = process_;
    server = await TestServer.start({ engine: engines.speech, engines });
    customer = await server.customer(CREDITS);
  });
  after(async () => {
    await server.dispose();
    models.remove();
  });

  async function client(number: number): Promise<void> {
    for (let turn = number; !isOver; turn += 1) {
      const { bytes, text } = CLIPS[turn % CLIPS.length]!;
      const answer = await transcribe(server, { key: customer.key.rawKey, parts: [['audio', bytes]] });
      if (answer.status !== 200) failures.push(answer.text);
      else if (answer.body['text'] !== text) failures.push(`"${String(answer.body['text'])}" for "${text}"`);
      else answered += 1;
    }
  }

  async function swap(name: string): Promise<void> {
    const { models: turns } = process_.engines;
    turns.use(name, 'a test');
    await until(() => turns.state().change === null);
    expect(turns.state()).to.deep.include({ serving: name, last: { to: name, error: null } });
  }

  const engineProcesses = (): number => childrenOf().filter(({ command }) => command.includes('deadly-engine')).length;

  it('fails no request, charges each once, and leaves no process and no descriptor behind', async () => {
    const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
    const descriptors = (): number => readdirSync('/proc/self/fd').length;
    for (let done = 0; done < WARM_SWAPS; done += 1) await swap(NAMES[done % 2]!);
    const before = descriptors();
    for (let done = WARM_SWAPS; done < SWAPS; done += 1) {
      await swap(NAMES[done % 2]!);
      console.log(`${done + 1} changes, ${answered} answers, ${failures.length} failures`);
    }
    expect(engineProcesses()).to.equal(1);
    // A connection of each client comes and goes.
    expect(descriptors()).to.be.at.most(before + CLIENTS);
    isOver = true;
    await Promise.all(clients);
    expect(failures).to.deep.equal([]);
    expect(answered).to.be.above(SWAPS);
    expect(CREDITS - (await server.balance(customer))).to.equal(answered);
    expect(await server.ledger.audit()).to.deep.equal([]);
    expect(process_.deaths).to.deep.equal([]);
  });
});
