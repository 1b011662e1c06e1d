/**
 * What 500 live sessions cost that do nothing: `npm run test:slow -- --grep 'idle live sessions'`. MINUTES sets how long
 * their memory is watched (5).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { processorMsOfAll, residentBytes, residentBytesOfAll } from '../../bench/processes/process-usage.js';
import { fitSlope } from '../../bench/reports/regression.js';
import { bearer } from '../support/server.js';
import { SocketClient } from '../support/socket-client.js';
import { startQuick, startReal, type AttackedServer } from './live-attacks/attacked-servers.js';

const SESSIONS = 500;
const MINUTES = Number(process.env['MINUTES'] ?? 5);
const MEBIBYTE = 2 ** 20;
const PATH = '/v1/realtime?intent=transcription';
const LOOK_MS = 1000;
const PRINT_MINUTES = 5;
/** Of silence, for sessions whose client has no more to say. */
const PIECE = JSON.stringify({ type: 'input_audio_buffer.append', audio: Buffer.alloc(4800).toString('base64') });

interface Kind {
  start: () => Promise<AttackedServer>;
  /** What was done before they became idle. */
  begin: (client: SocketClient) => void;
  /** How often each sends silence; null: never. */
  everyMs: number | null;
  mostCores: number;
}

const sendAudio = (client: SocketClient): void => {
  for (let n = 0; n < 20; n++) client.socket.send(PIECE);
};
/** As it is installed, but that one account may have all sessions. One slot has room for some 460 silent ones. */
const startInstalled = (): Promise<AttackedServer> =>
  startReal({ VERBATIM_SLOTS: '2', VERBATIM_MAX_LIVE_SESSIONS: String(2 * SESSIONS) });

const KINDS: Record<string, Kind> = {
  'that have sent nothing': { start: startQuick, begin: () => undefined, everyMs: null, mostCores: 0.1 },
  'that have sent audio': { start: startQuick, begin: sendAudio, everyMs: null, mostCores: 0.1 },
  'that send silence': { start: startQuick, begin: () => undefined, everyMs: 100, mostCores: 1.5 },
  'that have sent audio, of an installed server': {
    ...{ start: startInstalled, begin: sendAudio, everyMs: null, mostCores: 0.1 },
  },
};

describe(`${SESSIONS} idle live sessions`, function () {
  this.timeout((MINUTES + 5) * 4 * 60_000);
  let server: AttackedServer;
  let clients: SocketClient[];

  async function begin(start: Kind['start']): Promise<void> {
    server = await start();
    clients = [];
    // Caches fill first.
    await open(20);
    for (const client of clients.splice(0)) {
      client.socket.send(PIECE);
      client.close();
    }
    await sleep(LOOK_MS);
  }
  afterEach(async () => {
    for (const client of clients) client.socket.terminate();
    await server.stop();
  });

  async function open(count: number): Promise<void> {
    const headers = bearer(server.keys[0] ?? '');
    while (clients.length < count) {
      try {
        clients.push(await SocketClient.connect(server.url + PATH, [], { headers }));
      } catch {
        // A machine without room for so many that speak has it once those there were found to be silent.
        await sleep(LOOK_MS);
      }
    }
  }

  for (const [name, { start, begin: speak, everyMs, mostCores }] of Object.entries(KINDS)) {
    it(name, async () => {
      await begin(start);
      const before = residentBytes(server.pid);
      await open(SESSIONS);
      clients.forEach(speak);
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
      const used = processorMsOfAll(server.pid);
      const begun = performance.now();
      const points: [minutes: number, mebibytes: number][] = [];
      const minutes = (): number => (performance.now() - begun) / 60_000;
      let printed = 0;
      while (minutes() < MINUTES) {
        await sleep(LOOK_MS);
        const own = residentBytes(server.pid);
        points.push([minutes(), own / MEBIBYTE]);
        if (minutes() < printed) continue;
        const others = residentBytesOfAll(server.pid) - own;
        const figures = [own, others].map((bytes) => (bytes / MEBIBYTE).toFixed(1));
        process.stdout.write(`      after ${printed} minutes ${figures.join(' MiB, its engine ')} MiB\n`);
        printed += PRINT_MINUTES;
      }
      const cores = (processorMsOfAll(server.pid) - used) / (performance.now() - begun);
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
