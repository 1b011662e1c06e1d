import { expect } from 'chai';
import { pieces, spokenPcm } from '../../support/live-audio.js';
import { call } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { SocketClient, socketRefusal } from '../../support/socket-client.js';
import { until } from '../../support/until.js';

const LISTEN = '/v1/listen?encoding=linear16&sample_rate=16000&interim_results=true';

describe('the metrics of live sessions', () => {
  let server: TestServer;
  let customer: Customer;

  beforeEach(async () => {
    server = await TestServer.start({ settings: { maxLiveSessions: 2 } });
    customer = await server.customer();
  });
  afterEach(() => server.dispose());

  const open = (path: string): Promise<SocketClient> =>
    SocketClient.connect(server.url + path, [], { headers: bearer(customer.key) });
  const lines = async (): Promise<string[]> => (await call(server, '/metrics')).text.split('\n');
  const value = async (series: string): Promise<number | null> => {
    const line = (await lines()).find((line) => line.startsWith(`verbatim_live_${series} `));
    return line === undefined ? null : Number(line.split(' ').at(-1));
  };
  const untilValue = (series: string, expected: number): Promise<void> =>
    until(async () => (await value(series)) === expected, series);

  it('count sessions, their audio by endpoint, the lag of their texts, and how they end', async () => {
    expect(await value('sessions_limit')).to.be.above(10);
    const client = await open(LISTEN);
    expect(await value('sessions')).to.equal(1);
    const pcm = spokenPcm();
    for (const piece of pieces(pcm, 3200)) {
      client.socket.send(piece);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    client.send({ type: 'CloseStream' });
    await client.untilClosed();
    await untilValue('sessions_ended_total{endpoint="/v1/listen",reason="finished"}', 1);
    expect(await value('sessions')).to.equal(0);
    expect(await value('audio_seconds_total{endpoint="/v1/listen"}')).to.be.closeTo(pcm.length / 32_000, 0.02);
    expect(await value('final_lag_seconds_count')).to.equal(1);
    expect(await value('final_lag_seconds_sum')).to.be.above(0);
    expect(await value('partial_lag_seconds_count')).to.be.at.least(1);
    expect(await value('partials_shed_total')).to.equal(0);
  });

  it('say why sessions end that do not end by themselves, and why others are refused', async () => {
    const gone = await open(LISTEN);
    gone.socket.send(Buffer.alloc(3200));
    await until(async () => (await value('audio_seconds_total{endpoint="/v1/listen"}')) !== null);
    gone.socket.terminate();
    await untilValue('sessions_ended_total{endpoint="/v1/listen",reason="left"}', 1);
    const revoked = await open('/v1/realtime?intent=transcription');
    revoked.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(4800).toString('base64') });
    await until(async () => (await value('audio_seconds_total{endpoint="/v1/realtime"}')) !== null);
    const other = await open(LISTEN);
    const { status } = await socketRefusal(server.url + LISTEN, { headers: bearer(customer.key) });
    expect(status).to.equal(429);
    expect(await value('sessions_refused_total{endpoint="/v1/listen",reason="rate_limited"}')).to.equal(1);
    const path = `/api/v1/keys/${customer.key.id}`;
    await call(server, path, { method: 'DELETE', headers: bearer(customer.managementKey) });
    await untilValue('sessions_ended_total{endpoint="/v1/realtime",reason="invalid_api_key"}', 1);
    await other.untilClosed();
    // A place without audio was no session yet.
    expect((await lines()).filter((line) => line.includes('sessions_ended_total{'))).to.have.length(2);
  });
});
