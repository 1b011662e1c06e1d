/** What the speech model cannot be asked for is refused by name, before audio is looked at, uncharged. */
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { call, form, transcribe, type Answer, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

const NONE = { detectsLanguage: false, takesPrompt: false, takesTemperature: false };

describe('a speech model that detects no language, takes no prompt and no temperature', () => {
  let server: TestServer;
  let customer: Customer;

  before(async () => {
    server = await TestServer.start();
    server.engine.info.abilities = NONE;
    customer = await server.customer(1000);
  });
  after(() => server.dispose());

  const audio: Part = ['audio', fakeAudio(3)];
  const spoken: Part = ['language', 'en'];
  const send = (...parts: Part[]): Promise<Answer> =>
    transcribe(server, { key: customer.key, parts: [audio, ...parts] });
  const openAi = (...parts: Part[]): Promise<Answer> =>
    call(server, '/v1/audio/transcriptions', {
      method: 'POST',
      headers: bearer(customer.key),
      body: form([['file', fakeAudio(3)], ['model', 'whisper-1'], ...parts]),
    });
  const refused = async (answer: Promise<Answer>, param: string): Promise<[number, unknown]> => {
    const before = await server.balance(customer);
    const { status, body } = await answer;
    const { error } = body as { error: Record<string, unknown> };
    expect(error['param']).to.equal(param);
    expect(await server.balance(customer)).to.equal(before);
    return [status, error['code']];
  };

  it('transcribes what it can', async () => {
    expect((await send(spoken)).status).to.equal(200);
    expect((await openAi(spoken, ['temperature', '0'])).status).to.equal(200);
  });

  it('has the language named', async () => {
    expect(await refused(send(), 'language')).to.deep.equal([422, 'unsupported_language']);
    await refused(openAi(), 'language');
  });

  it('takes no prompt', async () => {
    expect(await refused(send(spoken, ['prompt', 'Verbatim']), 'prompt')).to.deep.equal([400, 'invalid_request']);
    await refused(openAi(spoken, ['prompt', 'Verbatim']), 'prompt');
  });

  it('takes no temperature', async () => {
    const [status] = await refused(openAi(spoken, ['temperature', '0.3']), 'temperature');
    expect(status).to.equal(400);
  });
});
