/** A server that is killed while ffmpeg writes for it: the next start leaves nothing of that, and nobody has paid. */
import { expect } from 'chai';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import type { IssuedKey, Ledger } from '../../src/ledger/types.js';
import { Victim } from '../slow/kill-nine/victim.js';
import { descendantsOf, isAlive } from '../support/child-processes.js';
import { postJob } from '../support/jobs.js';
import { transcribe, type Part } from '../support/requests.js';
import { until } from '../support/until.js';

const SECRET = 'a secret for the killed';
/** How a WebM file begins. */
const recording: Part = ['audio', Buffer.from('1a45dfa3010000000000001f', 'hex')];

/** Tells its version; of a conversion it writes the beginning, and never ends. */
const ENDLESS_FFMPEG = `#!/bin/sh
for to; do :; done
[ "$to" != -version ] || { echo 'ffmpeg version endless'; exit; }
echo half > "\${to#file:}"
exec tail -f /dev/null
`;

describe('a server that is killed amid conversions', function () {
  this.timeout(120_000);
  let directory: string;
  let data: string;
  let ffmpeg: string;
  let keys: IssuedKey[];

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-killed-'));
    data = join(directory, 'data');
    ffmpeg = join(directory, 'endless-ffmpeg');
    writeFileSync(ffmpeg, ENDLESS_FFMPEG);
    chmodSync(ffmpeg, 0o700);
    keys = await onBooks((ledger) => Promise.all([customer(ledger, 'ann'), customer(ledger, 'bob')]));
  });
  after(() => rmSync(directory, { recursive: true }));

  async function onBooks<T>(work: (ledger: Ledger) => Promise<T>): Promise<T> {
    const ledger = openLedger({ path: join(directory, 'verbatim.db'), secret: SECRET });
    try {
      return await work(ledger);
    } finally {
      await ledger.close();
    }
  }

  async function customer(ledger: Ledger, name: string): Promise<IssuedKey> {
    const { id: accountId } = await ledger.createAccount({ email: `${name}@example.com` });
    await ledger.grantCredits({ accountId, amount: 10 });
    return ledger.createKey({ accountId, name: 'client', scopes: [] });
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
      transcribe(server, { key: ann!, parts: [recording] }),
      postJob(server, bob!, [recording]),
    ].map((answer) => answer.catch(() => null));
    const conversions = (): number[] =>
      descendantsOf(killed.pid)
        .filter(({ command }) => command.startsWith('tail -f'))
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
    await onBooks(async (ledger) => {
      expect(await ledger.audit()).to.deep.equal([]);
      expect(await ledger.jobs.open()).to.deep.equal([]);
      for (const { accountId } of keys) expect((await ledger.balance(accountId)).balance).to.equal(10);
    });
  });
});
