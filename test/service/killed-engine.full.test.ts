/**
 * A server whose engine is killed while files are worked on, and whose clients hang up: what it holds afterwards, by
 * what the soak counts.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { seededRandom } from '../../bench/load/random.js';
import { hangUpAll, runTask, type Clients } from '../slow/soak/tasks.js';
import { enginePid, filesOfClients, footprintOf, type Footprint } from '../slow/soak/footprint.js';
import { startChecked } from '../support/recorded-answers.js';
import { until } from '../support/until.js';
import { WebhookListener } from '../support/webhook-listener.js';

const WEBHOOK_HOST = '127.0.0.1';

describe('a server whose engine is killed amid work', function () {
  this.timeout(180_000);
  let temporary: string;
  let listener: WebhookListener;
  let server: VerbatimProcess;
  let clients: Clients;

  before(async () => {
    temporary = mkdtempSync(join(tmpdir(), 'verbatim-killed-engine-'));
    listener = await WebhookListener.start();
    server = await startChecked({
      env: {
        ...{ VERBATIM_SLOTS: '2', VERBATIM_THREADS: '1' },
        ...{ VERBATIM_WEBHOOK_ALLOW: WEBHOOK_HOST, VERBATIM_LOG_LEVEL: 'fatal', TMPDIR: temporary },
        // Of sources that were translated.
        TSX_DISABLE_CACHE: '1',
      },
    });
    clients = { url: server.url, keys: server.keys, random: seededRandom(4), listener };
  });
  after(async () => {
    await hangUpAll();
    await server.stop();
    await listener.close();
    rmSync(temporary, { recursive: true });
  });

  const look = (): Footprint => footprintOf(server, temporary);

  it('holds no file before anybody asks', () => {
    expect(filesOfClients(server, temporary)).to.deep.equal([]);
  });

  it('is in the process that the kernel takes first when memory runs out, before the server', () => {
    const engine = enginePid(server)!;
    expect(readFileSync(`/proc/${engine}/oom_score_adj`, 'utf8').trim()).to.equal('500');
    // The kernel's own figure, by which it chooses: a share of the memory, and 500 of 1000 more.
    const score = (pid: number): number => Number(readFileSync(`/proc/${pid}/oom_score`, 'utf8'));
    expect(score(engine)).to.be.above(score(server.pid) + 200);
  });

  it('holds none once all are answered or gone, and answers those who wait', async () => {
    const tasks = (['long', 'hang-up', 'job', 'repeated', 'hang-up'] as const).map((kind) => runTask(kind, clients));
    await until(() => (look()['open holds'] ?? 0) > 0 && (look()['files'] ?? 0) > 0);
    const killed = enginePid(server);
    expect(killed).not.to.equal(null);
    process.kill(killed!, 'SIGKILL');
    const wrong = (await Promise.all(tasks)).map((task) => task.wrong);
    expect(wrong).to.deep.equal(['', '', '', '', '']);
    expect(enginePid(server)).to.be.a('number').that.is.not.equal(killed);
    await until(() => filesOfClients(server, temporary).length === 0);
    await until(() => look()['open holds'] === 0 && look()['open jobs'] === 0);
  });

  it('is seen to hold a file that is left', () => {
    mkdirSync(join(server.directory, 'uploads', 'left'), { recursive: true });
    writeFileSync(join(server.directory, 'uploads', 'left', 'one.upload'), '');
    writeFileSync(join(temporary, 'another.wav'), '');
    expect(filesOfClients(server, temporary)).to.have.members(['one.upload', 'another.wav']);
  });
});
