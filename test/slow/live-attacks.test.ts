/**
 * Attacks on live sessions: what they cost a server in memory, which is judged, and another client in time, which is
 * printed: attackers and server share this machine's cores. `npm run test:slow -- --grep 'live attacks'` (`npm run
 * build` first).
 */
import { openAsBlob } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Agent, FormData, request } from 'undici';
import { processorMsOfAll, residentBytes } from '../../bench/processes/process-usage.js';
import { fakeAudio } from '../support/fake-engine.js';
import { bearer } from '../support/server.js';
import { sample } from '../support/speech.js';
import { startQuick, startReal, type AttackedServer } from './live-attacks/attacked-servers.js';
import { Attackers } from './live-attacks/attackers.js';
import { ATTACKS } from './live-attacks/attacks.js';
import { quantile } from './quantile.js';

const MEBIBYTE = 2 ** 20;
const ATTACK_MS = 10_000;
const IDLE_CLIPS = 15;
/** The attack comes from 127.0.0.1. */
const other = new Agent({ connect: { localAddress: '127.0.0.2' }, headersTimeout: 0 });

const SERVERS: Record<string, { start: () => Promise<AttackedServer>; clip: () => Promise<Blob> }> = {
  'as it is': { start: startReal, clip: () => openAsBlob(sample('en-wav16.wav').path) },
  'with room for any number of sessions': {
    start: startQuick,
    clip: () => Promise.resolve(new Blob([new Uint8Array(fakeAudio(3))])),
  },
};

for (const [name, { start, clip }] of Object.entries(SERVERS)) {
  describe(`Live attacks on a server ${name}`, function () {
    this.timeout(600_000);
    let server: AttackedServer;

    beforeEach(async () => {
      server = await start();
    });
    afterEach(() => server.stop());

    for (const attack of ATTACKS) {
      it(`${attack.connections} connections ${attack.name}`, async () => {
        const blob = await clip();
        const idle: number[] = [];
        for (let n = 0; n < IDLE_CLIPS; n++) idle.push(await clipMs(server, blob));
        const idleMs = quantile(idle.slice(5), 0.5);
        const before = residentBytes(server.pid);
        const attackers = await Attackers.start(server, ATTACKS.indexOf(attack));
        const during: number[] = [];
        let most = before;
        const used = processorMsOfAll(server.pid);
        const begun = performance.now();
        while (performance.now() < begun + ATTACK_MS) {
          during.push(await clipMs(server, blob));
          most = Math.max(most, residentBytes(server.pid));
          await sleep(20);
        }
        const cores = (processorMsOfAll(server.pid) - used) / (performance.now() - begun);
        await attackers.stop();
        const more = (most - before) / MEBIBYTE;
        process.stdout.write(
          `      ${attackers.admitted} admitted, ${attackers.refused} refused; ${more.toFixed(0)} MiB more, ` +
            `${cores.toFixed(2)} cores; a clip ${idleMs.toFixed(0)} ms, during it ${quantile(during, 0.5).toFixed(0)} ms, ` +
            `p95 ${quantile(during, 0.95).toFixed(0)} ms, of ${during.length}\n`,
        );
        expect(more).to.be.below(attack.mostMebibytes);
        expect(during.length, 'clips that were answered').to.be.above(0);
      });
    }
  });
}

async function clipMs({ url, otherKey }: AttackedServer, clip: Blob): Promise<number> {
  const body = new FormData();
  body.append('audio', clip, 'clip.wav');
  const start = performance.now();
  const answer = await request(`${url}/api/v1/transcribe`, {
    ...{ method: 'POST' as const, headers: bearer(otherKey), body, dispatcher: other },
  });
  expect(answer.statusCode, await answer.body.text()).to.equal(200);
  return performance.now() - start;
}
