/**
 * A process of its own for the tests that race or kill one: `child.ts COMMAND DATABASE ACCOUNT KEY`. It says "ready"
 * when its ledger is open, starts at the first line of its input, and writes what is done line by line.
 */
import { writeSync } from 'node:fs';
import { VerbatimError } from '../../src/errors.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { serverAt } from './backends.js';
import { hold, SECRET, settlement, type KeyHolder } from './support.js';

/** Of the account that children squeeze and throng for. */
const MOST_IN_FLIGHT = 5;
/** Of a client that comes and goes, so that others come, too. */
const PAUSE_MS = 5;

const [command = '', address = '', accountId = '', keyId = ''] = process.argv.slice(2);
const who = { account: { id: accountId }, key: { id: keyId } } as KeyHolder;

/** Synchronous: what is said was done before the next kill. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

/** Holds one credit at a time until there are none, and keeps them. */
async function race(ledger: Ledger): Promise<void> {
  say(`won ${(await holdsUntilRefused(ledger)).length}`);
}

/** Sixteen clients that race as one. */
async function crowd(ledger: Ledger): Promise<void> {
  const ids = await Promise.all(Array.from({ length: 16 }, () => holdsUntilRefused(ledger)));
  say(`won ${ids.flat().length}`);
}

async function holdsUntilRefused(ledger: Ledger): Promise<string[]> {
  const ids: string[] = [];
  try {
    for (;;) ids.push(await hold(ledger, who, 1));
  } catch (error) {
    if (!(error instanceof VerbatimError && error.code === 'insufficient_credits')) throw error;
    return ids;
  }
}

/** Sixteen clients that each want one of the few places that the account has in flight, and keep it. */
async function squeeze(ledger: Ledger): Promise<void> {
  const outcomes = await Promise.all(Array.from({ length: 16 }, () => placed(ledger)));
  say(`won ${outcomes.filter((won) => won !== null).length}`);
}

/** Sixteen clients that hold and charge again and again, where not too many of the account do. */
async function throng(ledger: Ledger): Promise<void> {
  let charged = 0;
  const client = async (): Promise<void> => {
    for (;;) {
      const id = await placed(ledger);
      if (id === null) say('refused');
      else {
        await pause();
        await ledger.holds.settle(id, settlement(1));
        say(`charged ${++charged}`);
      }
      await pause();
    }
  };
  await Promise.all(Array.from({ length: 16 }, client));
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

/** null: the account has too many in flight. */
async function placed(ledger: Ledger): Promise<string | null> {
  try {
    return await hold(ledger, who, 1, { mostInFlight: MOST_IN_FLIGHT });
  } catch (error) {
    if (error instanceof VerbatimError && error.code === 'rate_limited') return null;
    throw error;
  }
}

/** Holds, settles and releases until it is killed. Every charge is announced before and reported after. */
async function churn(ledger: Ledger): Promise<void> {
  for (let n = 0; ; n += 1) {
    const id = await hold(ledger, who, 3);
    const key = `${process.pid}-${n}`;
    const state = await ledger.idempotency.begin({ accountId, key, fingerprint: 'f' });
    if (state.state !== 'new') throw new Error(state.state);
    if (n % 3 === 0) {
      await ledger.idempotency.abandon(state.token);
      await ledger.holds.release(id);
      continue;
    }
    await ledger.holds.settle(id, settlement(2, { idempotencyToken: state.token, result: { key } }));
    say(`charged ${id} ${key}`);
  }
}

// Racing processes may keep each other waiting for longer than a server would.
const opening = serverAt(address, {
  secret: command === 'first-start' && !address.includes('://') ? null : SECRET,
  lockTimeoutMs: 60_000,
});
void opening.then((ledger) => {
  say(`ready ${ledger.recovery.credits}`);
  process.stdin.once('data', () => void run(ledger));
  process.stdin.once('end', () => void ledger.close().then(() => process.exit(0)));
});

async function run(ledger: Ledger): Promise<void> {
  if (command === 'race') await race(ledger);
  else if (command === 'crowd') await crowd(ledger);
  else if (command === 'squeeze') await squeeze(ledger);
  else if (command === 'throng') await throng(ledger);
  else if (command === 'churn') await churn(ledger);
  else if (command === 'hold') say(`held ${await hold(ledger, who, 4)}`);
  else if (command === 'first-start') {
    const account = await ledger.accounts.create({ email: `${process.pid}@example.com` });
    say(`key ${(await ledger.keys.create({ accountId: account.id, name: 'first', scopes: [] })).rawKey}`);
  } else throw new Error(`Unknown command "${command}".`);
}
