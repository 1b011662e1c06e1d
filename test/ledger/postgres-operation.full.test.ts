/** What an operator does with PostgreSQL: connects to it over TLS, and backs it up with its own programs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createPostgresLedger, openPostgresLedger } from '../../src/ledger/postgres/ledger.js';
import { checkDatabase } from '../../src/service/database-address.js';
import { DATABASE_PASSWORD, PostgresCluster, sharedCluster } from '../support/postgres-cluster.js';
import { customer, hold, refusal, SECRET, settlement, type KeyHolder } from './support.js';

describe('PostgreSQL over TLS', () => {
  let directory: string;
  let cluster: PostgresCluster;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-tls-'));
    makeAuthority('ours');
    makeAuthority('other');
    signServer('ours', 'localhost');
    cluster = await PostgresCluster.start({ tls: { certificate: file('server.crt'), key: file('server.key') } });
    await cluster.query('CREATE DATABASE ledger');
  });
  after(async () => {
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const file = (name: string): string => join(directory, name);
  const openssl = (...words: string[]): unknown => execFileSync('openssl', words, { stdio: 'pipe' });

  function makeAuthority(name: string): void {
    openssl(
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`],
      ...['-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)],
    );
  }
  function signServer(authority: string, host: string): void {
    writeFileSync(file('names'), `subjectAltName=DNS:${host}\n`);
    openssl(
      ...['req', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${host}`],
      ...['-keyout', file('server.key'), '-out', file('server.csr')],
    );
    openssl(
      ...['x509', '-req', '-days', '2', '-in', file('server.csr'), '-extfile', file('names'), '-CAcreateserial'],
      ...['-CA', file(`${authority}.crt`), '-CAkey', file(`${authority}.key`), '-out', file('server.crt')],
    );
  }
  /** An address as an operator writes it; the configuration takes it. */
  const address = (host: string, authority: string, port = cluster.port): string =>
    checkDatabase(
      `postgres://verbatim:${DATABASE_PASSWORD}@${host}:${port}/ledger?sslmode=verify-full` +
        `&sslrootcert=${encodeURIComponent(file(`${authority}.crt`))}`,
      'VERBATIM_DATABASE',
    );
  const refused = async (url: string): Promise<string> => {
    const { message } = await refusal(() => openPostgresLedger({ url, secret: SECRET }));
    expect(message).not.to.contain(DATABASE_PASSWORD);
    return message;
  };

  it('verify-full: holds, charges and is notified of revoked keys, on encrypted connections alone', async () => {
    const ledger = await createPostgresLedger({ url: address('localhost', 'ours'), secret: SECRET });
    try {
      const ann = await customer(ledger, 'ann@example.com', 10);
      const charge = await ledger.holds.settle(await hold(ledger, ann, 3), settlement(2));
      expect(charge).to.deep.equal({ creditsUsed: 2, creditsRemaining: 8 });
      const revoked = new Promise<string>((resolve) => ledger.keys.onRevoked(resolve));
      await ledger.keys.revoke(ann.account.id, ann.key.id);
      expect(await revoked).to.equal(ann.key.id);
      const connections = await cluster.query<{ ssl: boolean }>(
        `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'verbatim'`,
      );
      expect(connections.length).to.be.at.least(2);
      expect(new Set(connections.map(({ ssl }) => ssl))).to.deep.equal(new Set([true]));
    } finally {
      await ledger.close();
    }
  });

  it('verify-full: refuses a server with another name, of another authority, and one without TLS', async () => {
    expect(await refused(address('127.0.0.1', 'ours'))).to.match(/does not match certificate/);
    expect(await refused(address('localhost', 'other'))).to.match(/unable to verify|self.signed|unable to get/);
    const clear = await sharedCluster();
    expect(await refused(address('localhost', 'ours', clear.port))).to.match(/does not support SSL/);
  });
});

describe('PostgreSQL: pg_dump and pg_restore', () => {
  let directory: string;
  let cluster: PostgresCluster;
  const databases = [`dumped_${process.pid}`, `restored_${process.pid}`] as const;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-dump-'));
    cluster = await sharedCluster();
    for (const name of databases) await cluster.query(`CREATE DATABASE ${name}`);
  });
  after(async () => {
    for (const name of databases) await cluster.query(`DROP DATABASE ${name} WITH (FORCE)`);
    rmSync(directory, { recursive: true, force: true });
  });

  const open = (name: string): Promise<Ledger> => createPostgresLedger({ url: cluster.url(name), secret: SECRET });

  async function fill(ledger: Ledger): Promise<{ ann: KeyHolder; token: string }> {
    const ann = await customer(ledger, 'ann@example.com', 100);
    const { id: accountId } = ann.account;
    const begun = await ledger.idempotency.begin({ accountId, key: 'k', fingerprint: 'f' });
    if (begun.state !== 'new') throw new Error(begun.state);
    await ledger.holds.settle(await hold(ledger, ann, 5), settlement(3, { idempotencyToken: begun.token }));
    await ledger.jobs.create({
      ...{ id: 'job_1', accountId, keyId: ann.key.id, requestId: 'req_2', options: {}, audioSeconds: 60, credits: 7 },
      ...{ webhook: { url: 'https://example.com/', secret: 'whsec_AAAA' }, mostOpen: 8, idempotency: null },
    });
    await ledger.operators.note({ operatorId: accountId, action: 'suspend', subject: null });
    const { token } = await ledger.access.createLink(accountId);
    return { ann, token };
  }

  it('bring back everything, and the restored ledger balances and serves', async () => {
    const [from, to] = databases;
    const before = await open(from);
    const { ann, token } = await fill(before);
    const { id: accountId } = ann.account;
    const kept = await before.history.charged(accountId, { limit: 10, before: null });
    await before.close();
    const dump = join(directory, 'ledger.dump');
    // As docs/postgresql.md has it.
    cluster.client('pg_dump', ['--format=custom', '--schema=verbatim', `--file=${dump}`, cluster.url(from)]);
    cluster.client('pg_restore', ['--exit-on-error', `--dbname=${cluster.url(to)}`, dump]);

    const after = await open(to);
    try {
      expect(await after.audit()).to.deep.equal([]);
      expect((await after.credits.balance(accountId)).balance).to.equal(90);
      expect(await after.history.charged(accountId, { limit: 10, before: null })).to.deep.equal(kept);
      expect((await after.keys.authenticate(ann.key.rawKey))?.key.id).to.equal(ann.key.id);
      expect((await after.access.linkOwner(token))?.id).to.equal(accountId);
      expect(await after.idempotency.begin({ accountId, key: 'k', fingerprint: 'f' })).to.include({ state: 'replay' });
      const taken = await after.jobs.take({ leaseMs: 30_000, mostPerAccount: 1 });
      expect(taken?.job.id).to.equal('job_1');
      const { audioSeconds, minutes, transcriptionId, language, model, result } = settlement(7);
      const bill = {
        credits: 7,
        endpoint: '/api/v1/jobs',
        audioSeconds,
        minutes,
        transcriptionId,
        language,
        model,
        result,
      };
      expect(await after.jobs.succeed(taken!.lease, bill)).to.equal(true);
      await after.holds.settle(await hold(after, ann, 4), settlement(4));
      expect((await after.credits.balance(accountId)).balance).to.equal(86);
      expect(await after.audit()).to.deep.equal([]);
    } finally {
      await after.close();
    }
  });
});
