/** Random sessions of a server, many at once. */
import { expect } from 'chai';
import { Mulberry32 } from '../random.js';
import { SEED } from '../seed.js';
import { TestServer, type Customer } from '../server.js';
import { readMetric } from '../../slow/metric.js';
import { until } from '../until.js';
import { RandomListenSession } from './random-listen.js';
import { RandomRealtimeSession } from './random-realtime.js';
import { SpokenEngine } from './spoken-engine.js';

const AT_ONCE = 24;
/** So that utterances are cut at the longest window, too. */
const WINDOW_SECONDS = 4;
const PROTOCOLS = { openai: RandomRealtimeSession, deepgram: RandomListenSession };

export class RandomSessions {
  private constructor(
    private readonly server: TestServer<SpokenEngine>,
    private readonly customer: Customer,
  ) {}

  static async start(): Promise<RandomSessions> {
    const engine = new SpokenEngine(new Mulberry32(SEED));
    engine.info.windowSeconds = WINDOW_SECONDS;
    const settings = { maxConnectionsPerAddress: 1000, maxLiveSessions: 1000 };
    const server = await TestServer.start({ engine, settings });
    return new RandomSessions(server, await server.customer(1_000_000));
  }

  /** Rejects with what the first session did that the model of its protocol does not allow, and which one that was. */
  async run(protocol: keyof typeof PROTOCOLS, count: number, first = 0): Promise<void> {
    let next = first;
    const worker = async (): Promise<void> => {
      while (next < first + count) {
        const index = next++;
        const session = new PROTOCOLS[protocol](new Mulberry32(SEED * 1_000_003 + index));
        await session.run(this.server.url, this.customer.key.rawKey).catch((cause: unknown) => {
          throw new Error(`SEED=${SEED}, session ${index}: ${(cause as Error).message}`, { cause });
        });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  /** Nothing is left of them, and the credits are right. */
  async checkEmpty(): Promise<void> {
    const { server } = this;
    await until(async () => (await readMetric(server.url, 'verbatim_live_sessions')) === 0);
    expect(await readMetric(server.url, 'verbatim_live_waiting_bytes')).to.equal(0);
    await until(() => server.engine.running === 0);
    expect(await server.ledger.audit()).to.deep.equal([]);
  }

  dispose(): Promise<void> {
    return this.server.dispose();
  }
}
