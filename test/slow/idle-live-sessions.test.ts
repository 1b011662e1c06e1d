/**
 * What 500 live sessions cost that do nothing: `npm run test:slow -- --grep 'idle live sessions'`. MINUTES sets how long
 * their memory is watched (5).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { processorMs, residentBytes } from '../../bench/processes/process-usage.js';
import { fitSlope } from '../../bench/reports/regression.js';
import { bearer } from '../support/server.js';
import { SocketClient } from '../support/socket-client.js';
import { startQuick, type AttackedServer } from './live-attacks/attacked-servers.js';

const SESSIONS = 500;
const MINUTES = Number(process.env['MINUTES'] ?? 5);
const MEBIBYTE = 2 ** 20;
const PATH = '/v1/realtime?intent=transcription';
const LOOK_MS = 1000;
/** Of silence, for sessions whose client has no more to say. */
const PIECE = JSON.stringify({ type: 'input_audio_buffer.append', audio: Buffer.alloc(4800).toString('base64') });

/** What was done before they became idle, and what they do. */
const KINDS: Record<string, { begin: (client: SocketClient) => void; everyMs: number | null; mostCores: number }> = {
  'that have sent nothing': { begin: () => undefined, everyMs: null, mostCores: 0.1 },
  'that have sent audio': {
    begin: (client) => {
      for (let n = 0; n < 20; n++) client.socket.send(PIECE);
    },
    ...{ everyMs: null, mostCores: 0.1 },
  },
  'that send silence': { begin: () => undefined, everyMs: 100, mostCores: 1.5 },
};

describe(`${SESSIONS} idle live sessions`, function () {
  this.timeout((MINUTES + 5) * 4 * 60_000);
  let server: AttackedServer;
  let clients: SocketClient[];

  beforeEach(async () => {
    server = await startQuick();
    clients = [];
    // Caches fill first.
    await open(20);
    for (const client of clients.splice(0)) {
      client.socket.send(PIECE);
      client.close();
    }
    await sleep(LOOK_MS);
  });
  afterEach(async () => {
    for (const client of clients) client.socket.terminate();
    await server.stop();
  });

  async function open(count: number): Promise<void> {
    const headers = bearer(server.keys[0] ?? '');
    for (let n = 0; n < count; n++) clients.push(await SocketClient.connect(server.url + PATH, [], { headers }));
  }

  for (const [name, { begin, everyMs, mostCores }] of Object.entries(KINDS)) {
    it(name, async () => {
      const before = residentBytes(server.pid);
      await open(SESSIONS);
      clients.forEach(begin);
      let at = 0;
      // Each in its time, as microphones are.
      const sending =
        everyMs === null
          ? null
          : setInterval(() => {
              for (let n = 0; n < SESSIONS / 10; n++) clients[at++ % SESSIONS]?.socket.send(PIECE);
            }, everyMs / 10);
      await sleep(10_000);
      const each = (residentBytes(server.pid) - before) / SESSIONS / MEBIBYTE;
      const used = processorMs(server.pid);
      const begun = performance.now();
      const points: [minutes: number, mebibytes: number][] = [];
      while (performance.now() < begun + MINUTES * 60_000) {
        await sleep(LOOK_MS);
        points.push([(performance.now() - begun) / 60_000, residentBytes(server.pid) / MEBIBYTE]);
      }
      const cores = (processorMs(server.pid) - used) / (performance.now() - begun);
      if (sending !== null) clearInterval(sending);
      const { slope, margin } = fitSlope(points);
      process.stdout.write(
        `      ${each.toFixed(3)} MiB each, ${cores.toFixed(3)} cores for all, ` +
          `${slope.toFixed(2)} +- ${margin.toFixed(2)} MiB more a minute\n`,
      );
      expect(clients.filter(({ closed }) => closed !== null)).to.have.length(0);
      expect(each).to.be.at.most(0.5);
      expect(cores).to.be.at.most(mostCores);
    });
  }
});
