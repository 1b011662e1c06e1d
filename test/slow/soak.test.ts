/**
 * All that clients do, at half of what the server can, for SOAK_MINUTES (90), with the engine's process killed every
 * SOAK_KILL_SECONDS (60): every request is answered, what was answered is charged and nothing else, and nothing grows.
 * `verbatim serve` is a process of its own, so `npm run build` first. What is seen is written to the terminal, a line
 * at each kill.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../src/ledger/sqlite/driver.js';
import { expect } from 'chai';
import { loadClock } from '../../bench/load/clock.js';
import { pickKind, seededRandom } from '../../bench/load/random.js';
import type { VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import { startChecked } from '../support/recorded-answers.js';
import { until } from '../support/until.js';
import { WebhookListener } from '../support/webhook-listener.js';
import { hangUpAll, KINDS, runTask, type Clients, type SoakTask, type Kind } from './soak/tasks.js';
import { enginePid, filesOfClients, footprintOf, type Footprint } from './soak/footprint.js';
import { growths } from './soak/growth.js';
import { builtMain } from './built-main.js';

const MINUTES = Number(process.env['SOAK_MINUTES'] ?? 90);
const KILL_SECONDS = Number(process.env['SOAK_KILL_SECONDS'] ?? 60);
const CREDITS = 10_000_000;
const ACCOUNTS = 4;
/** What the server computes at once, half of which is kept at work. */
const LANES = 2;
const CLIENTS = 8;
/**
 * Of a client, in times of what its last answer took: so that, on average, half of the lanes are at work, however fast
 * the machine is.
 */
const MEAN_REST = CLIENTS / (LANES / 2) - 1;
const WEBHOOK_HOST = '127.0.0.1';

describe(`${MINUTES} minutes of all that clients do, the engine killed every ${KILL_SECONDS} s`, function () {
  this.timeout((MINUTES * 2 + 60) * 60_000);
  const random = seededRandom(17);
  const tasks: SoakTask[] = [];
  const footprints: Footprint[] = [];
  let directory: string;
  let server: VerbatimProcess;
  let listener: WebhookListener;
  let clients: Clients;
  let idle: Footprint;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-soak-'));
    mkdirSync(temporary());
    listener = await WebhookListener.start();
    server = await startChecked({
      main: builtMain,
      credits: Array.from({ length: ACCOUNTS }, () => CREDITS),
      env: {
        ...{ VERBATIM_WEBHOOK_ALLOW: WEBHOOK_HOST, VERBATIM_LOG_LEVEL: 'fatal', TMPDIR: temporary() },
        ...{ VERBATIM_SLOTS: String(LANES), VERBATIM_THREADS: '1' },
      },
    });
    clients = { url: server.url, keys: server.keys, random, listener };
  });
  after(async () => {
    await server.stop();
    await listener.close();
    rmSync(directory, { recursive: true });
  });

  function temporary(): string {
    return join(directory, 'temporary');
  }

  async function send(kind: Kind): Promise<void> {
    tasks.push(await runTask(kind, clients));
  }

  function look(): Footprint {
    const { exitCode, signalCode } = server.child;
    expect({ exitCode, signalCode }, 'how the server ended').to.deep.equal({
      exitCode: null,
      signalCode: null,
    });
    return footprintOf(server, temporary());
  }

  /** One task after the other, with rests between, until it is time to end. */
  async function client(end: number): Promise<void> {
    for (let start = loadClock.now(); start < end; start = loadClock.now()) {
      await send(pickKind(random, KINDS));
      const rest = (loadClock.now() - start) * MEAN_REST * 2 * random();
      await loadClock.sleep(Math.min(rest, Math.max(0, end - loadClock.now())));
    }
  }

  it('answers everything', async () => {
    for (const { kind } of KINDS) await send(kind);
    idle = look();
    const seconds = MINUTES * 60;
    const start = loadClock.now();
    const ends = Array.from({ length: CLIENTS }, () => client(start + seconds * 1000));
    for (let due = KILL_SECONDS; due <= seconds; due += KILL_SECONDS) {
      await loadClock.sleep(Math.max(0, start + due * 1000 - loadClock.now()));
      footprints.push(look());
      say(`${(due / 60).toFixed(1)} min, ${tasks.length} answered: ${shortly(footprints.at(-1))}`);
      const pid = enginePid(server);
      expect(pid, 'the engine is back a minute after it was killed').not.to.equal(null);
      process.kill(pid!, 'SIGKILL');
    }
    await Promise.all(ends);
    await hangUpAll();
    const wrong = tasks.filter((task) => task.wrong !== '');
    say(`${tasks.length} answered: ${JSON.stringify(tally(tasks))}`);
    expect(wrong.slice(0, 10)).to.deep.equal([]);
  });

  it('does not grow', () => {
    const found = growths(footprints);
    for (const { name, median, growth, most } of found)
      say(`${name}: ${median.toFixed(1)}, grown by ${growth.toFixed(2)}; at most ${most}`);
    expect(found.map(({ name }) => name)).to.include.members(['server memory (MiB)', 'engine threads', 'files']);
    expect(found.filter(({ growth, most }) => growth > most)).to.deep.equal([]);
  });

  it('holds nothing once nobody asks for anything', async () => {
    await until(() => look()['files'] === 0).catch(() => undefined);
    expect(filesOfClients(server, temporary())).to.deep.equal([]);
    const left = look();
    for (const name of ['other processes', 'open holds', 'open jobs', 'webhooks to be sent'])
      expect(left[name], name).to.equal(0);
    for (const name of ['server descriptors', 'server threads'])
      expect(left[name], name).to.be.at.most((idle[name] ?? 0) + 2);
  });

  it('has charged what it answered, each once, and nothing else', async () => {
    const ledger = openLedger({ path: databasePath() });
    expect(await ledger.audit()).to.deep.equal([]);
    let left = 0;
    for (const { id } of await ledger.accounts.list()) left += (await ledger.credits.balance(id)).balance;
    await ledger.close();
    const charges = chargesOf(databasePath());
    for (const task of tasks) {
      const charged = task.requestIds.flatMap((id) => charges.get(id) ?? []);
      const context = JSON.stringify(task);
      if (task.kind === 'hang-up') expect(charged.length, context).to.be.at.most(1);
      else expect(charged, context).to.deep.equal(task.kind === 'refused' ? [] : [task.credits]);
    }
    const known = new Set(tasks.flatMap(({ requestIds }) => requestIds));
    expect([...charges.keys()].filter((id) => !known.has(id))).to.deep.equal([]);
    const spent = [...charges.values()].flat().reduce((sum, credits) => sum + credits, 0);
    expect(left).to.equal(ACCOUNTS * CREDITS - spent);
    say(`${charges.size} charges, ${spent} credits`);
  });

  it('reports every kill', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const deaths = [...text.matchAll(/^verbatim_engine_restarts_total\{.*reason="(\w+)".*\} (\d+)$/gm)];
    expect(deaths.map(([, reason, count]) => [reason, Number(count)])).to.deep.equal([['SIGKILL', footprints.length]]);
  });

  function databasePath(): string {
    return join(server.directory, 'verbatim.db');
  }
});

/** Credits of each row of usage, by request. */
function chargesOf(path: string): Map<string, number[]> {
  const database = new Database(path, { fileMustExist: true, readonly: true, timeout: 5000 });
  try {
    const charges = new Map<string, number[]>();
    const rows = database.prepare<[], { id: string; credits: number }>(
      'SELECT request_id AS id, credits FROM usage_events',
    );
    for (const { id, credits } of rows.all()) charges.set(id, [...(charges.get(id) ?? []), credits]);
    return charges;
  } finally {
    database.close();
  }
}

function tally(tasks: readonly SoakTask[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind, status } of tasks) counts[`${kind} ${status}`] = (counts[`${kind} ${status}`] ?? 0) + 1;
  return counts;
}

function shortly(footprint: Footprint | undefined): string {
  return Object.entries(footprint ?? {})
    .map(([name, value]) => `${name} ${Number(value.toFixed(1))}`)
    .join(', ');
}

function say(line: string): void {
  process.stdout.write(`      ${line}\n`);
}
