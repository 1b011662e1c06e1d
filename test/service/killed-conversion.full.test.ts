/** A server that is killed while ffmpeg writes for it: the next start leaves nothing of that, and nobody has paid. */
import { expect } from 'chai';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import type { IssuedKey } from '../../src/ledger/types.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { Victim } from '../slow/kill-nine/victim.js';
import { descendantsOf, isAlive, liveDecodersOf } from '../support/child-processes.js';
import { encoded, STREAMS } from '../support/encoded-audio.js';
import { ENDLESS_COMMAND, RECORDING_TO_CONVERT, writeEndlessFfmpeg } from '../support/endless-ffmpeg.js';
import { postJob } from '../support/jobs.js';
import { transcribe } from '../support/requests.js';
import { bearer } from '../support/server.js';
import { SocketClient } from '../support/socket-client.js';
import { pcmOfSample } from '../support/speech.js';
import { until } from '../support/until.js';

const SECRET = 'a secret for the killed';
describe('a server that is killed amid conversions', function () {
  this.timeout(120_000);
  let directory: string;
  let data: string;
  let ffmpeg: string;
  let keys: IssuedKey[];

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-killed-'));
    data = join(directory, 'data');
    ffmpeg = writeEndlessFfmpeg(directory);
    keys = await onLedger((ledger) => Promise.all([customer(ledger, 'ann'), customer(ledger, 'bob')]));
  });
  after(() => rmSync(directory, { recursive: true }));

  async function onLedger<T>(work: (ledger: Ledger) => Promise<T>): Promise<T> {
    const ledger = openLedger({ path: join(directory, 'verbatim.db'), secret: SECRET });
    try {
      return await work(ledger);
    } finally {
      await ledger.close();
    }
  }

  async function customer(ledger: Ledger, name: string): Promise<IssuedKey> {
    const { id: accountId } = await ledger.accounts.create({ email: `${name}@example.com` });
    await ledger.credits.grant({ accountId, amount: 10 });
    return ledger.keys.create({ accountId, name: 'client', scopes: [] });
  }

  const start = (): Promise<Victim> =>
    Victim.start({
      ...{ database: join(directory, 'verbatim.db'), secret: SECRET, uploads: data, real: true },
      ffmpeg,
    });
  const filesIn = (folder: string): string[] =>
    existsSync(join(data, folder))
      ? readdirSync(join(data, folder), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ name }) => name)
      : [];

  it('leaves neither file nor child, for requests and for jobs', async () => {
    const killed = await start();
    const server = { url: killed.url, port: Number(new URL(killed.url).port) };
    const [ann, bob] = keys;
    const cut = [
      transcribe(server, { key: ann!, parts: [RECORDING_TO_CONVERT] }),
      postJob(server, bob!, [RECORDING_TO_CONVERT]),
    ].map((answer) => answer.catch(() => null));
    const conversions = (): number[] =>
      descendantsOf(killed.pid)
        .filter(({ command }) => command.startsWith(ENDLESS_COMMAND))
        .map(({ pid }) => pid);
    await until(() => conversions().length === 2);
    const children = conversions();
    await killed.kill();
    expect(await Promise.all(cut)).to.deep.equal([null, null]);
    await until(() => !children.some(isAlive));
    expect(filesIn('uploads'), 'two uploads, and what was made of them').to.have.length(4);
    const next = await start();
    try {
      expect(filesIn('uploads')).to.deep.equal([]);
      expect(filesIn('jobs')).to.deep.equal([]);
    } finally {
      await next.kill();
    }
    await onLedger(async (ledger) => {
      expect(await ledger.audit()).to.deep.equal([]);
      expect(await ledger.jobs.open()).to.deep.equal([]);
      for (const { accountId } of keys) expect((await ledger.credits.balance(accountId)).balance).to.equal(10);
    });
  });

  it('leaves no decoder of a live session, which has paid for what arrived', async () => {
    const live = await Victim.start({
      ...{ database: join(directory, 'verbatim.db'), secret: SECRET, uploads: data, real: true },
    });
    const key = await onLedger((ledger) => customer(ledger, 'eve'));
    const url = `${live.url.replace('http', 'ws')}/v1/listen`;
    const client = await SocketClient.connect(url, [], { headers: bearer(key) });
    const webm = encoded(pcmOfSample(), STREAMS[0]!.args);
    client.socket.send(webm.subarray(0, webm.length / 2));
    await until(() => liveDecodersOf(live.pid).length === 1);
    const balance = (): Promise<number> =>
      onLedger(async (ledger) => (await ledger.credits.balance(key.accountId)).balance);
    await until(async () => (await balance()) === 9);
    const { pid } = liveDecodersOf(live.pid)[0]!;
    await live.kill();
    await until(() => !isAlive(pid));
    expect(await balance()).to.equal(9);
  });
});
