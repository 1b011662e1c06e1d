/** The parts of the ledger's interface whose tables other parts write as well, each call a transaction. */
import type Database from 'better-sqlite3';
import type { AccountLedger, CreditLedger, HoldLedger, IdempotencyLedger, KeyLedger } from '../ledger.js';
import type { WallClock } from '../time.js';
import type { DerivedState, IdempotencyState } from '../types.js';
import { Accounts } from './accounts.js';
import { ApiKeys } from './api-keys.js';
import { Credits } from './credits.js';
import { Holds } from './holds.js';
import { Idempotency } from './idempotency.js';
import { Instances } from './instances.js';
import type { Transactions } from './transactions.js';
import { UsageRecords } from './usage.js';

export interface Tables {
  accounts: Accounts;
  keys: ApiKeys;
  credits: Credits;
  holds: Holds;
  usage: UsageRecords;
  idempotency: Idempotency;
  instances: Instances;
}

export function makeTables(database: Database.Database, secret: () => Buffer, clock: WallClock): Tables {
  const credits = new Credits(database, clock);
  return {
    accounts: new Accounts(database, clock),
    keys: new ApiKeys(database, secret, clock),
    credits,
    holds: new Holds(database, credits, clock),
    usage: new UsageRecords(database, clock),
    idempotency: new Idempotency(database, clock),
    instances: new Instances(database, clock),
  };
}

export function accountLedger({ accounts, credits, keys }: Tables, { read, atomic }: Transactions): AccountLedger {
  return {
    create: (input) => atomic(() => accounts.create(input)),
    createFirst: (first) =>
      atomic(() => {
        if (accounts.hasAny()) return null;
        const { id: accountId } = accounts.create(first);
        credits.grant({ accountId, amount: first.credits });
        return first.keys.map((key) => keys.create({ accountId, ...key }));
      }),
    find: (email) => read(() => accounts.find(email)),
    list: () => read(() => accounts.list()),
  };
}

export function keyLedger({ keys }: Tables, { read, atomic }: Transactions): KeyLedger {
  const listeners = new Set<(keyId: string) => void>();
  return {
    create: (input) => atomic(() => keys.create(input)),
    list: (accountId) => read(() => keys.list(accountId)),
    revoke: async (accountId, keyId) => {
      const revoked = await atomic(() => keys.revoke(accountId, keyId));
      if (revoked !== null) for (const listener of listeners) listener(keyId);
      return revoked;
    },
    authenticate: (rawKey) => read(() => keys.authenticate(rawKey)),
    createEphemeral: (input) => read(() => keys.createEphemeral(input)),
    authenticateEphemeral: (rawKey) => read(() => keys.authenticateEphemeral(rawKey)),
    revokedAmong: (keyIds) => read(() => keys.revokedAmong(keyIds)),
    onRevoked: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export function creditLedger({ credits }: Tables, { read, atomic }: Transactions): CreditLedger {
  return {
    grant: (grant) => atomic(() => credits.grant(grant)),
    balance: (accountId) => read(() => credits.balance(accountId)),
    packs: (accountId, emptyOnes) => read(() => credits.list(accountId, emptyOnes)),
  };
}

export function holdLedger(tables: Tables, transactions: Transactions): HoldLedger {
  const { read, passing, charge, undo, refuseWhileFailing } = transactions;
  const { credits, holds, usage, idempotency, instances } = tables;
  return {
    state: (accountId) =>
      read(() => {
        refuseWhileFailing();
        return { balance: credits.balance(accountId).balance, inFlight: holds.countOfRequests(accountId) };
      }),
    place: (request) =>
      passing(() => {
        refuseWhileFailing();
        return holds.place(request, { instanceId: instances.id });
      }),
    settle: (holdId, settlement) =>
      charge(() => {
        const { credits: creditsUsed, delivered = false, idempotencyToken: token, result } = settlement;
        const hold = holds.settle(holdId, creditsUsed, { evenIfRevoked: delivered });
        usage.record(hold, settlement);
        const creditsRemaining = credits.balance(hold.account_id).balance;
        if (token !== undefined) idempotency.complete(token, hold, { result, creditsRemaining });
        return { holdId: hold.id, value: { creditsUsed, creditsRemaining } };
      }),
    release: (holdId) => undo(() => holds.release(holdId)),
  };
}

export function idempotencyLedger(tables: Tables, transactions: Transactions): IdempotencyLedger {
  const { read, passing, undo, confirmed } = transactions;
  const { idempotency, instances } = tables;
  return {
    begin: (input) => confirmed(passing, () => idempotency.begin(input, instances.id), isReplay),
    has: (accountId, key) => read(() => idempotency.has(accountId, key)),
    beginDerived: (request, busy) =>
      confirmed(passing, () => idempotency.beginDerived(request, busy, instances.id), isReplay),
    mayBeRepeated: (accountId, retried) => read(() => idempotency.mayBeRepeated(accountId, retried)),
    noteDelivery: (token, delivered) => undo(() => idempotency.noteDelivery(token, delivered)),
    abandon: (token) => undo(() => idempotency.abandon(token)),
  };
}

const isReplay = ({ state }: IdempotencyState | DerivedState): boolean => state === 'replay';
