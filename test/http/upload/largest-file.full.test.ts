/** The largest file that the documents promise is taken by the production limits, and one byte more is not. */
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { transcribe } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';

const LARGEST = 100_000_000;

describe('the largest file', () => {
  let server: TestServer;
  let customer: Customer;
  before(async () => {
    server = await TestServer.start();
    customer = await server.customer(10);
  });
  after(() => server.dispose());

  function audioOf(bytes: number): Buffer {
    const audio = Buffer.alloc(bytes);
    fakeAudio(3).copy(audio);
    return audio;
  }

  it('is transcribed', async () => {
    const answer = await transcribe(server, { key: customer.key, parts: [['audio', audioOf(LARGEST)]] });
    expect(answer.status, answer.text).to.equal(200);
    expect(await server.balance(customer)).to.equal(9);
  });

  it('with one byte more is refused, and costs nothing', async () => {
    const answer = await transcribe(server, { key: customer.key, parts: [['audio', audioOf(LARGEST + 1)]] });
    expect(answer.status, answer.text).to.equal(413);
    expect(answer.error).to.include({ code: 'file_too_large' });
    expect(answer.error!.message).to.include('100,000,000');
    expect(await server.balance(customer)).to.equal(9);
    expect(server.uploads()).to.deep.equal([]);
  });
});
