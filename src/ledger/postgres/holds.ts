import { randomUUID } from 'node:crypto';
import { textOfJson } from '../json.js';
import { recordGone } from '../rows/answers.js';
import { tooManyInFlight } from '../limits.js';
import { checkAmount, insufficient, revokedMeanwhile } from '../rows/packs.js';
import { checkUsage } from '../rows/usage.js';
import type { HoldLedger } from '../ledger.js';
import type { WallClock } from '../time.js';
import type { Charge, Hold, HoldRequest, Settlement, AccountState } from '../types.js';
import type { SqlValue } from './connections.js';
import type { PostgresInstance } from './instance.js';
import type { PostgresDeferredUndo } from './deferred-undo.js';
import type { Statements } from './statements.js';
import { isUnreachable } from './database-failure.js';

/** The columns of the database's type "bill", from the parameter after `before` on. */
export function billSql(before: number): string {
  return `ROW(${Array.from({ length: 9 }, (_, index) => `$${before + 1 + index}`).join(', ')})::bill`;
}

const NOTHING = { minutes: 0, audioSeconds: 0 };

/** Throws what the settlement's result throws when it is written, or a RangeError. */
export function billValues(settlement: Omit<Settlement, 'requestId'> & { requestId: string | null }): SqlValue[] {
  const { credits, endpoint, requestId, transcriptionId, language, model } = settlement;
  // The database reports a bad amount: it knows what is held.
  const whole = Number.isSafeInteger(credits) && credits >= 0 ? credits : null;
  const { minutes, audioMs } = checkUsage(whole === null ? NOTHING : settlement);
  const result = textOfJson(settlement.result);
  return [whole, endpoint, audioMs, minutes, requestId, transcriptionId, language, result, model];
}

interface Placed {
  outcome: 'placed' | 'revoked' | 'too many' | 'insufficient';
  hold: number;
  available: number;
  in_flight: number;
}

interface Settled {
  outcome: 'settled' | 'not open' | 'bad amount' | 'revoked' | 'no record';
  held: number;
  remaining: number;
}

/** Credits set aside for what is worked on, each step one round trip. */
export class PostgresHolds implements HoldLedger {
  constructor(
    private readonly statements: Statements,
    private readonly instance: PostgresInstance,
    private readonly deferred: PostgresDeferredUndo,
    private readonly clock: WallClock,
  ) {}

  async place(request: HoldRequest): Promise<Hold> {
    const { accountId, keyId, requestId, credits, mostInFlight = null, fileName = null } = request;
    checkAmount('A hold', credits, Number.MAX_SAFE_INTEGER);
    const call = randomUUID();
    try {
      const [placed] = await this.instance.alive((instance) =>
        this.statements.repeatable<Placed>('SELECT * FROM place_hold($1, $2, $3, $4, $5, $6, NULL, $7, $8, $9)', [
          ...[call, accountId, keyId, requestId, credits, instance, mostInFlight, this.clock(), fileName],
        ]),
      );
      return toHold(placed, request);
    } catch (error) {
      // It may have been placed although no answer came, now or later.
      if (isUnreachable(error)) this.deferred.forAWhile(() => this.#withdraw(call));
      throw error;
    }
  }

  async state(accountId: string): Promise<AccountState> {
    const [row] = await this.statements.repeatable<AccountState>(
      `SELECT balance_of($1, $2) AS balance, requests_in_flight($1) AS "inFlight"`,
      [accountId, this.clock()],
    );
    return { balance: row?.balance ?? 0, inFlight: row?.inFlight ?? 0 };
  }

  async settle(holdId: string, settlement: Settlement): Promise<Charge> {
    const call = randomUUID();
    const { credits, delivered = false, idempotencyToken = null } = settlement;
    const bill = billValues(settlement);
    const [settled] = await this.statements.untilDone<Settled>(
      `SELECT * FROM settle_hold($1, $2, ${billSql(2)}, $12, $13, $14)`,
      () => [call, Number(holdId), ...bill, delivered, idempotencyToken, this.clock()],
    );
    return toCharge(settled, holdId, credits);
  }

  release(holdId: string): Promise<void> {
    return this.deferred.undo(async () => {
      await this.statements.promptly('SELECT release_hold($1, NULL, $2)', [Number(holdId), this.clock()]);
    });
  }

  async #withdraw(call: string): Promise<void> {
    await this.statements.promptly('SELECT release_hold(NULL, $1, $2)', [call, this.clock()]);
  }
}

/** Throws the error of the outcome. */
export function toHold(
  placed: Placed | undefined,
  { credits, mostInFlight = Infinity }: Pick<HoldRequest, 'credits' | 'mostInFlight'>,
): Hold {
  if (placed?.outcome === 'revoked') throw revokedMeanwhile();
  if (placed?.outcome === 'too many') throw tooManyInFlight(placed.in_flight, mostInFlight);
  if (placed?.outcome !== 'placed') throw insufficient(credits, placed?.available ?? 0);
  return { id: String(placed.hold), credits };
}

function toCharge(settled: Settled | undefined, holdId: string, credits: number): Charge {
  switch (settled?.outcome) {
    case 'settled':
      return { creditsUsed: credits, creditsRemaining: settled.remaining };
    case 'bad amount':
      checkAmount('A charge', credits, settled.held);
      break;
    case 'revoked':
      throw revokedMeanwhile();
    case 'no record':
      throw recordGone('request');
    default:
  }
  throw new Error(`Hold ${holdId} is not open; it cannot be settled.`);
}
