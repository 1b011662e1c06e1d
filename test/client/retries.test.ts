/** What the client does when the service asks it to wait, or the connection breaks: tries again, and pays once. */
import { expect } from 'chai';
import { VerbatimApiError, type ClientOptions, type Sleep, type VerbatimClient } from '../../src/client/index.js';
import { CuttingProxy, type Cut } from '../support/cutting-proxy.js';
import { fakeAudio } from '../support/fake-engine.js';
import { TestServer, type Customer } from '../support/server.js';
import { until } from '../support/until.js';

const HOUR = 3600;

describe('client: retries', () => {
  let server: TestServer;
  let customer: Customer;
  let proxy: CuttingProxy | null;

  beforeEach(async () => {
    server = await TestServer.start({ settings: { maxInFlight: 1 } });
    customer = await server.customer(100);
    proxy = null;
  });
  afterEach(async () => {
    await proxy?.close();
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  const audio = new Blob([new Uint8Array(fakeAudio(61))]);
  const large = new Blob([new Uint8Array(fakeAudio(61)), new Uint8Array(20_000_000)]);
  const client = (options: Partial<ClientOptions> = {}): VerbatimClient =>
    server.client(customer.key, { backoffMs: 20, ...options });

  async function cutClient(...plan: Cut[]): Promise<VerbatimClient> {
    proxy = await CuttingProxy.start(server, plan);
    return client({ baseUrl: proxy.url });
  }

  async function refusal(work: Promise<unknown>): Promise<VerbatimApiError> {
    return work.then(
      () => expect.fail('resolved'),
      (error: unknown) => {
        expect(error).to.be.instanceOf(VerbatimApiError);
        return error as VerbatimApiError;
      },
    );
  }

  /** Waits that were asked for, in milliseconds; each is over when `meanwhile` is. */
  function waits(meanwhile: () => unknown): { asked: number[]; sleep: Sleep } {
    const asked: number[] = [];
    const sleep: Sleep = async (milliseconds) => {
      asked.push(milliseconds);
      await meanwhile();
    };
    return { asked, sleep };
  }

  const statuses = (): unknown[] => server.logs.map(({ status }) => status);

  async function expectChargedOnce(): Promise<void> {
    expect(await server.balance(customer)).to.equal(98);
    expect(await server.ledger.history.report(customer.account.id, 1)).to.include({
      totalMinutes: 2,
      totalCredits: 2,
    });
  }

  describe('an answer that asks to wait', () => {
    it('503: waits as long as Retry-After says', async () => {
      server.engine.backlogSeconds = 50 * HOUR;
      server.engine.realTimeFactor = 7 / (50 * HOUR);
      const { asked, sleep } = waits(() => (server.engine.backlogSeconds = 0));
      expect((await client({ sleep }).transcribe({ audio })).credits_used).to.equal(2);
      expect(asked).to.deep.equal([7000]);
      expect(statuses()).to.deep.equal([503, 200]);
      await expectChargedOnce();
    });

    it('429: waits as long as Retry-After says', async () => {
      server.engine.holdAll();
      server.engine.realTimeFactor = 0.001;
      const first = client().transcribe({ audio });
      await server.engine.untilRunning(1);
      const { asked, sleep } = waits(async () => {
        expect(server.logs[0]).to.include({ status: 429, code: 'rate_limited' });
        server.engine.release();
        await first;
      });
      const second = client({ sleep }).transcribe({ audio });
      expect([(await second).credits_used, (await first).credits_used]).to.deep.equal([2, 2]);
      expect(asked).to.deep.equal([1000]);
    });

    it('is thrown when the service asks for too long a wait', async () => {
      server.engine.backlogSeconds = 50 * HOUR;
      const error = await refusal(client().transcribe({ audio }));
      server.engine.backlogSeconds = 0;
      expect(error).to.include({ status: 503, code: 'overloaded', retryAfterSeconds: 5 * HOUR });
      expect(statuses()).to.deep.equal([503]);
    });

    it('is thrown when the tries are used up', async () => {
      server.engine.backlogSeconds = 50 * HOUR;
      server.engine.realTimeFactor = 1 / (50 * HOUR);
      const { asked, sleep } = waits(() => undefined);
      const error = await refusal(client({ maxRetries: 1, sleep }).transcribe({ audio }));
      server.engine.backlogSeconds = 0;
      expect(error).to.include({ status: 503, retryAfterSeconds: 1 });
      expect(asked).to.deep.equal([1000]);
      expect(statuses()).to.deep.equal([503, 503]);
    });
  });

  describe('a broken connection', () => {
    it('in the middle of the upload', async () => {
      const answer = await (await cutClient('upload', 'upload')).transcribe({ audio: large });
      expect(answer.credits_used).to.equal(2);
      expect(proxy!.connections).to.be.at.least(3);
      expect(server.engine.transcribed).to.equal(1);
      await expectChargedOnce();
    });

    it('after the charge, before the answer: the repeat replays it', async () => {
      const answer = await (await cutClient('answer')).transcribe({ audio });
      expect(answer.credits_remaining).to.equal(98);
      expect(server.engine.transcribed).to.equal(1);
      expect(server.logs.map(({ replayed }) => replayed)).to.deep.equal([undefined, true]);
      await expectChargedOnce();
    });

    it('in the middle of the answer', async () => {
      const answer = await (await cutClient('half answer')).transcribe({ audio });
      expect(answer.text).to.equal('Hello, World.');
      expect(server.engine.transcribed).to.equal(1);
      await expectChargedOnce();
    });

    it('that the server does not notice: the 409 of the repeat means "not yet"', async () => {
      await server.dispose();
      server = await TestServer.start();
      customer = await server.customer(100);
      server.engine.holdAll();
      const running = (await cutClient('client')).transcribe({ audio });
      await server.engine.untilRunning(1);
      proxy!.breakClients();
      await until(() => server.logs.some(({ code }) => code === 'idempotency_conflict'));
      expect(server.engine.running).to.equal(1);
      server.engine.release();
      expect((await running).credits_remaining).to.equal(98);
      expect(server.engine.transcribed).to.equal(1);
      await expectChargedOnce();
    });

    it('keeps the Idempotency-Key that the caller gave', async () => {
      const options = { idempotencyKey: 'order 1138' };
      await (await cutClient('answer')).transcribe({ audio }, options);
      const again = await client().transcribe({ audio }, options);
      expect(again.credits_remaining).to.equal(98);
      await expectChargedOnce();
      const other = await refusal(client().transcribe({ audio, punctuate: false }, options));
      expect(other).to.include({ status: 409, code: 'idempotency_conflict', param: 'Idempotency-Key' });
    });

    it('GET and DELETE', async () => {
      expect((await (await cutClient('answer')).me()).credits.balance).to.equal(100);
      expect(statuses()).to.deep.equal([200, 200]);
    });

    it('does not make a key twice', async () => {
      proxy = await CuttingProxy.start(server, ['answer']);
      const management = server.client(customer.managementKey, { baseUrl: proxy.url, backoffMs: 20 });
      const error = await management.createKey('once').catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(TypeError);
      const names = (await server.ledger.keys.list(customer.account.id)).map(({ name }) => name);
      expect(names.filter((name) => name === 'once')).to.have.length(1);
    });

    it('is thrown when the tries are used up', async () => {
      const error = await (
        await cutClient('answer', 'answer', 'answer', 'answer', 'answer')
      )
        .me()
        .catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(TypeError);
      expect(proxy!.connections).to.equal(5);
    });
  });
});
