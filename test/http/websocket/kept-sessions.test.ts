/** Live sessions that are kept when they end: their text, with words and their times. */
import { expect } from 'chai';
import { pieces, spokenPcm } from '../../support/live-audio.js';
import { library } from '../../support/kept.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { socketRefusal, SocketClient } from '../../support/socket-client.js';
import { until } from '../../support/until.js';

const LISTEN = '/v1/listen?encoding=linear16&sample_rate=16000';

describe('live sessions that are kept', () => {
  let server: TestServer;
  let customer: Customer;
  before(async () => {
    server = await TestServer.start();
  });
  after(() => server.dispose());
  beforeEach(async () => {
    customer = await server.customer();
  });

  /** Says something, and ends the session; its final text. */
  async function listened(query: string): Promise<string> {
    const client = await SocketClient.connect(`${server.url}${LISTEN}${query}`, [], { headers: bearer(customer.key) });
    for (const piece of pieces(spokenPcm(), 16_000)) client.socket.send(piece);
    client.send({ type: 'CloseStream' });
    await client.untilClosed();
    return client
      .of('Results')
      .map(({ channel }) => (channel as { alternatives: { transcript: string }[] }).alternatives[0]!.transcript)
      .filter((text) => text !== '')
      .join(' ');
  }
  type Row = Record<string, unknown>;
  const listed = async (): Promise<Row[]> => (await library(server, customer.key)).body['transcripts'] as Row[];

  it('where the address says so, with the text that the client got', async () => {
    const text = await listened('&keep=true&punctuate=true');
    expect(text).not.to.equal('');
    await until(async () => (await listed()).length === 1, 'the transcript');
    const [row] = await listed();
    expect(row).to.deep.include({ source: { kind: 'live', name: 'plain' }, model: 'fake' });
    const { body } = await library(server, customer.key, `/${String(row!['id'])}`);
    expect(body).to.include({ text, audio: false, title: text });
    const words = body['words'] as { word: string; start: number }[];
    expect(words.map(({ word }) => word).join(' ')).to.equal(text);
    expect(words[0]!.start).to.be.above(0);
  });

  it('as the account decided, and not where the address says no', async () => {
    const settings = { isOn: true, keepDays: null, keepsAudio: true };
    await server.ledger.transcripts.decide(customer.account.id, settings);
    await listened('&keep=false');
    await listened('');
    await until(async () => (await listed()).length > 0, 'the transcript');
    expect(await listed()).to.have.length(1);
    await server.ledger.transcripts.decide(customer.account.id, { ...settings, isOn: false });
    await listened('');
    await listened('&keep=true');
    await until(async () => (await listed()).length > 1, 'the second transcript');
    expect(await listed()).to.have.length(2);
  });

  it("refuse another value by name, in OpenAI's protocol, too", async () => {
    for (const path of [`${LISTEN}&keep=maybe`, '/v1/realtime?intent=transcription&keep=maybe']) {
      const { status, body } = await socketRefusal(server.url + path, { headers: bearer(customer.key) });
      expect(status, path).to.equal(400);
      expect(body).to.contain('keep must be true or false.');
    }
  });
});
