/** Jobs of some accounts on a server that is killed again and again, and the messages that reported their end. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../../src/ledger/sqlite/driver.js';
import { expect } from 'chai';
import { openLedger } from '../../../src/ledger/sqlite/ledger.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { postJob } from '../../support/jobs.js';
import type { Part } from '../../support/requests.js';
import { until } from '../../support/until.js';
import { WebhookListener } from '../../support/webhook-listener.js';
import { Victim } from './victim.js';

const SECRET = 'a secret for the axe';
const ACCOUNTS = 3;
const CREDITS = 1_000_000;
const SECONDS = [30, 61, 150];

/** A job that a client wants done: sent again under its key until it is accepted. */
interface WantedJob {
  rawKey: string;
  seconds: number;
  idempotencyKey: string;
  id: string | null;
}

export class JobLoad {
  readonly wanted: WantedJob[] = [];
  readonly #directory = mkdtempSync(join(tmpdir(), 'verbatim-kill-jobs-'));
  readonly #database = join(this.#directory, 'verbatim.db');
  readonly #uploads = join(this.#directory, 'uploads');
  readonly #rawKeys: string[] = [];
  #running = false;

  private constructor(private readonly listener: WebhookListener) {
    mkdirSync(this.#uploads);
  }

  static async prepare(): Promise<JobLoad> {
    const load = new JobLoad(await WebhookListener.start());
    const ledger = openLedger({ path: load.#database, secret: SECRET });
    for (let n = 0; n < ACCOUNTS; n++) {
      const { id: accountId } = await ledger.accounts.create({ email: `account-${n}@example.com` });
      await ledger.credits.grant({ accountId, amount: CREDITS });
      load.#rawKeys.push((await ledger.keys.create({ accountId, name: 'client', scopes: [] })).rawKey);
    }
    await ledger.close();
    return load;
  }

  /** Kills the server when so many jobs were accepted, or so many messages received, since it started. */
  async round(kill: { accepted: number } | { received: number }): Promise<void> {
    const victim = await this.#start();
    const [accepted, received] = [this.#accepted, this.listener.received.length];
    this.#running = true;
    const clients = Promise.all(this.#rawKeys.map((rawKey) => this.#client(victim.url, rawKey)));
    await until(() =>
      'accepted' in kill
        ? this.#accepted >= accepted + kill.accepted
        : this.listener.received.length >= received + kill.received,
    );
    await victim.kill();
    this.#running = false;
    await clients;
    await this.#audit();
  }

  /** Lets a server that is not killed do the rest, and looks at all of it. */
  async finish(): Promise<void> {
    const victim = await this.#start();
    try {
      for (const job of this.wanted) if (job.id === null) await this.#send(victim.url, job);
      await until(() => this.#rows('jobs WHERE finished_at IS NULL') === 0);
      await until(() => this.#rows('webhook_events WHERE due_at IS NOT NULL') === 0);
      // What was put there a moment before a kill, and is nobody's, goes when it is old.
      const ids = new Set(this.wanted.map(({ id }) => id));
      await until(() => !readdirSync(`${this.#uploads}-jobs`).some((id) => ids.has(id)));
    } finally {
      await victim.kill();
    }
    await this.#audit();
    this.#checkJobs();
    this.#checkMessages();
  }

  async dispose(): Promise<void> {
    await this.listener.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get #accepted(): number {
    return this.wanted.filter(({ id }) => id !== null).length;
  }

  #start(): Promise<Victim> {
    return Victim.start({ database: this.#database, secret: SECRET, uploads: this.#uploads, real: false });
  }

  async #client(url: string, rawKey: string): Promise<void> {
    try {
      while (this.#running) {
        const left = this.wanted.find((job) => job.rawKey === rawKey && job.id === null);
        const seconds = SECONDS[this.wanted.length % SECONDS.length]!;
        const job = left ?? { rawKey, seconds, idempotencyKey: randomUUID(), id: null };
        if (left === undefined) this.wanted.push(job);
        await this.#send(url, job);
      }
    } catch {
      // The server is gone; its next life gets what is left.
    }
  }

  async #send(url: string, job: WantedJob): Promise<void> {
    const parts: Part[] = [
      ['audio', fakeAudio(job.seconds)],
      ['webhook_url', this.listener.url],
    ];
    const server = { url, port: Number(new URL(url).port) };
    const headers = { 'idempotency-key': job.idempotencyKey };
    const { status, body, text } = await postJob(server, job.rawKey, parts, headers);
    if (status !== 202) throw new Error(`${status} ${text}`);
    job.id = String(body['id']);
  }

  async #audit(): Promise<void> {
    const ledger = openLedger({ path: this.#database, secret: SECRET });
    expect(await ledger.audit()).to.deep.equal([]);
    await ledger.close();
  }

  #checkJobs(): void {
    const jobs = this.#all<{
      id: string;
      status: string;
      hold_id: number;
      credits: number;
      audio_ms: number;
    }>(
      `SELECT job.id, job.status, job.hold_id, event.credits, event.audio_ms
       FROM jobs job LEFT JOIN usage_events event ON event.hold_id = job.hold_id`,
    );
    expect(new Set(jobs.map(({ status }) => status))).to.deep.equal(new Set(['succeeded']));
    expect(jobs.map(({ id }) => id).sort(), 'one job for each that was wanted').to.deep.equal(
      this.wanted.map(({ id }) => id).sort(),
    );
    expect(new Set(jobs.map(({ hold_id }) => hold_id)).size, 'a charge each').to.equal(jobs.length);
    expect(this.#rows('usage_events'), 'and no other').to.equal(jobs.length);
    for (const { credits, audio_ms: ms } of jobs) expect(credits).to.equal(Math.ceil(ms / 60_000));
    expect(this.#rows('holds WHERE settled_at IS NULL')).to.equal(0);
  }

  #checkMessages(): void {
    const messagesOf = new Map<string, Set<string>>();
    for (const { body, headers } of this.listener.received) {
      const { type, data } = JSON.parse(body) as { type: string; data: { id: string } };
      expect(type).to.equal('job.succeeded');
      messagesOf.set(data.id, (messagesOf.get(data.id) ?? new Set()).add(headers['webhook-id']!));
    }
    expect([...messagesOf.keys()].sort()).to.deep.equal(this.wanted.map(({ id }) => id).sort());
    for (const [id, ids] of messagesOf) expect(ids.size, `ids of the message of ${id}`).to.equal(1);
  }

  #rows(what: string): number {
    return this.#all<{ n: number }>(`SELECT count(*) AS n FROM ${what}`)[0]?.n ?? NaN;
  }

  #all<Row>(sql: string): Row[] {
    const database = new Database(this.#database, { fileMustExist: true, timeout: 5000 });
    try {
      return database.prepare<[], Row>(sql).all();
    } finally {
      database.close();
    }
  }
}
