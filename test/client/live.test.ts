/** The client's live session, against the real server with a fake engine. */
import { expect } from 'chai';
import { LiveTranscriptionError, type LiveTranscriptionEvent } from '../../src/client/index.js';
import { FakeDiarizer } from '../support/fake-diarizer.js';
import { pieces, spokenPcm } from '../support/live-audio.js';
import { TestServer, type Customer } from '../support/server.js';

describe("The client's live session", () => {
  let server: TestServer;
  let customer: Customer;

  beforeEach(async () => {
    server = await TestServer.start();
    customer = await server.customer(10);
  });
  afterEach(() => server.dispose());

  it('gets the events of what is spoken, and ends when it is finished', async () => {
    server.engine.utterances.push(' Good morning.', ' How are you?');
    const session = server.client(customer.key).live({ language: 'de', silenceMs: 400, model: 'fake' });
    for (const piece of pieces(Buffer.concat([spokenPcm(), spokenPcm()]), 6400)) await session.send(piece);
    await session.finish();
    const events: LiveTranscriptionEvent[] = [];
    for await (const event of session) events.push(event);
    expect(events.filter(({ type }) => type === 'speech_started')).to.have.length(2);
    const finals = events.flatMap((event) => (event.type === 'final' && event.text !== '' ? event : []));
    expect(finals.map(({ text }) => text)).to.deep.equal(['Good morning.', 'How are you?']);
    expect(finals.every(({ endsUtterance }) => endsUtterance)).to.equal(true);
    expect(finals[0]!.words.map(({ word }) => word)).to.deep.equal(['Good', 'morning.']);
    expect(finals[1]!.start).to.equal(finals[0]!.end);
    expect(server.engine.recognised[0]).to.include({ language: 'de' });
    expect(await server.balance(customer)).to.equal(9);
  });

  it('passes the form of the samples on, and flushes', async () => {
    const session = server.client(customer.key).live({ encoding: 'mulaw', sampleRate: 8000, punctuate: false });
    await session.send(Buffer.alloc(8000, 0xff));
    await session.flush();
    await session.finish();
    const texts: LiveTranscriptionEvent[] = [];
    for await (const event of session) texts.push(event);
    expect(texts.map(({ type }) => type)).to.include('final');
    expect(server.engine.recognised).to.deep.equal([]);
  });

  it('says who speaks where it is asked to', async () => {
    await server.dispose();
    server = await TestServer.start({ diarizer: new FakeDiarizer() });
    customer = await server.customer(10);
    server.engine.utterances.push(' Good morning.');
    const session = server.client(customer.key).live({ language: 'en', diarize: true });
    for (const piece of pieces(spokenPcm(), 6400)) await session.send(piece);
    await session.finish();
    const speakers: (number | undefined)[] = [];
    for await (const event of session) {
      if (event.type === 'final') speakers.push(...event.words.map(({ speaker }) => speaker));
    }
    expect(speakers).to.deep.equal([0, 1]);
  });

  it('throws where it is refused, and where it breaks', async () => {
    const read = async (session: AsyncIterable<LiveTranscriptionEvent>): Promise<unknown> => {
      try {
        for await (const event of session) event;
        return null;
      } catch (error) {
        return error;
      }
    };
    const refused = server.client({ rawKey: 'vb_none' }).live();
    expect(await read(refused)).to.be.instanceOf(LiveTranscriptionError);
    const session = server.client(customer.key).live();
    await session.send(Buffer.alloc(3200));
    await server.ledger.keys.revoke(customer.account.id, customer.key.id);
    const error = await read(session);
    expect(error).to.be.instanceOf(LiveTranscriptionError);
    expect(error).to.include({ closeCode: 1008 });
  });
});
