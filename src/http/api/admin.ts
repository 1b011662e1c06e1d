/** /admin: the accounts, credits and usage of everybody, for those who sell the service. */
import { exportOf } from '../../ledger/account-export.js';
import type { AccountUsage, UsageQuery } from '../../ledger/administration.js';
import { recordAction, type ActionOutcome, type OperatorAction } from '../../ledger/operators.js';
import { noAccount } from '../../ledger/rows/accounts.js';
import { ADMIN_SCOPE } from '../../ledger/scopes.js';
import { DAY_MS, dateOfDay, utcDay } from '../../ledger/time.js';
import type { Account, Identity } from '../../ledger/types.js';
import type { Ledger } from '../../ledger/ledger.js';
import { authenticated, withScope, type AuthenticatedHandler } from '../auth/auth.js';
import type { HttpDeps } from '../app/deps.js';
import { JSON_TYPE, type Exchange } from '../app/exchange.js';
import { headerOf, Location } from '../schema/headers.js';
import { readParameter } from '../schema/parameter.js';
import { readJsonObject } from '../app/request-body.js';
import type { Handler, Route } from '../app/route.js';
import { invalid, parseBody } from '../schema/shape.js';
import { deleteAccount, suspendAccount } from '../auth/account-suspension.js';
import { IdempotencyReplayed } from '../transcripts/transcription-headers.js';
import {
  accountCursor,
  AccountId,
  accountPlaceOf,
  adminAccountBody,
  AdminCursor,
  AdminLimit,
  adminUsageBody,
  CreateAccountRequest,
  creditGrantBody,
  DEFAULT_ADMIN_LIMIT,
  GrantRequest,
  UsageAccount,
  usageCsv,
  UsageFormat,
  UsageFrom,
  usagePlaceOf,
  UsageTo,
} from './admin-schema.js';

const ADMIN = '/api/v1/admin';
const ACCOUNTS = `${ADMIN}/accounts`;
const ACCOUNT = `${ACCOUNTS}/:${AccountId.name}`;
const DEFAULT_DAYS = 30;
const CSV_TYPE = 'text/csv; charset=utf-8; header=present';
const ROWS_AT_ONCE = 1000;

export function adminRoutes(deps: HttpDeps): Route[] {
  const { ledger } = deps;
  const { administration } = ledger;
  const admin = (handler: AuthenticatedHandler): Handler => authenticated(deps, withScope(ADMIN_SCOPE, handler));

  /** In the operators' log, as what their pages and the command line do. */
  const recorded = <T>(
    { account }: Identity,
    action: Omit<OperatorAction, 'operatorId'>,
    work: () => Promise<T>,
    outcomeOf?: (done: T) => ActionOutcome,
  ): Promise<T> => recordAction(ledger.operators, { operatorId: account.id, ...action }, work, outcomeOf);

  const body = async (account: Account): Promise<object> =>
    adminAccountBody(account, (await ledger.credits.balance(account.id)).balance);

  const list = admin(async (exchange) => {
    const { limit, cursor } = pageOf(exchange);
    const after = cursor === null ? null : accountPlaceOf(cursor);
    const accounts = await administration.list({ limit: limit + 1, after });
    const page = accounts.slice(0, limit);
    const bodies = [];
    for (const account of page) bodies.push(await body(account));
    const last = accounts.length > limit ? page.at(-1) : undefined;
    exchange.json(200, { accounts: bodies, next_cursor: last === undefined ? null : accountCursor(last) });
  });

  const create = admin(async (exchange, identity) => {
    const asked = await readJsonObject(exchange, deps);
    const account = await recorded(
      identity,
      { action: 'account-made', subject: null },
      async () => ledger.accounts.create(parseBody(CreateAccountRequest, asked)),
      ({ id }) => ({ outcome: 'done', subject: id }),
    );
    exchange.json(201, await body(account), headerOf(Location, `${ACCOUNTS}/${account.id}`));
  });

  const find = admin(async (exchange) => {
    const account = await administration.find(idOf(exchange));
    if (account === null) throw noAccount(idOf(exchange));
    exchange.json(200, await body(account));
  });

  const remove = admin(async (exchange, identity) => {
    const subject = idOf(exchange);
    await recorded(identity, { action: 'account-deleted', subject }, async () =>
      deleteAccount(deps, otherThan(identity.account, subject)),
    );
    exchange.json(200, { id: subject, deleted: true });
  });

  const suspend = admin(async (exchange, identity) => {
    const subject = idOf(exchange);
    const suspended = await recorded(identity, { action: 'suspended', subject }, async () =>
      suspendAccount(deps, otherThan(identity.account, subject)),
    );
    exchange.json(200, await body(suspended));
  });

  const resume = admin(async (exchange, identity) => {
    const subject = idOf(exchange);
    const resumed = await recorded(identity, { action: 'resumed', subject }, () => administration.resume(subject));
    exchange.json(200, await body(resumed));
  });

  const sendExport = admin(async (exchange, identity) => {
    const subject = idOf(exchange);
    const headers = { 'Content-Disposition': `attachment; filename="${subject}.json"` };
    await recorded(identity, { action: 'exported', subject }, () =>
      exchange.pieces(JSON_TYPE, exportOf(ledger, subject, new Date(deps.clock())), headers),
    );
  });

  const grant = admin(async (exchange, identity) => {
    const [accountId, given] = [idOf(exchange), await readJsonObject(exchange, deps)];
    const detail = typeof given['amount'] === 'number' ? String(given['amount']) : null;
    const pack = await recorded(
      identity,
      { action: 'granted', subject: accountId, detail },
      async () => {
        const { amount, expires_at: expiresAt = null, payment_id: paymentId = null } = parseBody(GrantRequest, given);
        return ledger.credits.grant({ accountId, amount, expiresAt, paymentId });
      },
      // A payment that was there already gives nothing.
      ({ repeated }) => ({ outcome: repeated ? 'refused' : 'done' }),
    );
    if (!pack.repeated) exchange.json(201, creditGrantBody(pack));
    else exchange.json(200, creditGrantBody(pack), headerOf(IdempotencyReplayed, 'true'));
  });

  return [
    { path: ACCOUNTS, methods: { GET: list, POST: create } },
    { path: ACCOUNT, methods: { GET: find, DELETE: remove } },
    { path: `${ACCOUNT}/suspend`, methods: { POST: suspend } },
    { path: `${ACCOUNT}/resume`, methods: { POST: resume } },
    { path: `${ACCOUNT}/export`, methods: { GET: sendExport } },
    { path: `${ACCOUNT}/credits`, methods: { POST: grant } },
    { path: `${ADMIN}/usage`, methods: { GET: admin((exchange) => usage(exchange, deps)) } },
  ];
}

async function usage(exchange: Exchange, { ledger, clock }: HttpDeps): Promise<void> {
  const { query } = exchange.req;
  const to = readParameter(UsageTo, query[UsageTo.name], dateOfDay(utcDay(clock())));
  const from = readParameter(UsageFrom, query[UsageFrom.name], daysBefore(to));
  const accountId = readParameter(UsageAccount, query[UsageAccount.name], null);
  if (readParameter(UsageFormat, query[UsageFormat.name], 'json') === 'csv') {
    for (const { name } of [AdminLimit, AdminCursor]) {
      if (query[name] !== undefined) throw invalid(name, `${name} needs format=json.`);
    }
    const pages = usagePages(ledger, { from, to, accountId });
    const headers = { 'Content-Disposition': `attachment; filename="usage-${from}-${to}.csv"` };
    await exchange.pieces(CSV_TYPE, usageCsv(pages), headers);
    return;
  }
  const { limit, cursor } = pageOf(exchange);
  const after = cursor === null ? null : usagePlaceOf(cursor);
  const rows = await ledger.administration.usage({ from, to, accountId, limit: limit + 1, after });
  exchange.json(200, adminUsageBody({ from, to }, rows, limit));
}

/** All rows, some at a time. */
export async function* usagePages(
  { administration }: Ledger,
  query: Pick<UsageQuery, 'from' | 'to' | 'accountId'>,
): AsyncGenerator<AccountUsage[]> {
  for (let after: AccountUsage | null = null; ;) {
    const rows: AccountUsage[] = await administration.usage({ ...query, limit: ROWS_AT_ONCE, after });
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_AT_ONCE) return;
    after = last;
  }
}

/** The ledger refuses a text that is no day. */
function daysBefore(to: string): string {
  const last = Date.parse(to);
  return Number.isNaN(last) ? to : dateOfDay(utcDay(last - (DEFAULT_DAYS - 1) * DAY_MS));
}

function pageOf({ req }: Exchange): { limit: number; cursor: string | null } {
  return {
    limit: readParameter(AdminLimit, req.query[AdminLimit.name], DEFAULT_ADMIN_LIMIT),
    cursor: readParameter(AdminCursor, req.query[AdminCursor.name], null),
  };
}

function idOf({ req }: Exchange): string {
  const id = req.params[AccountId.name];
  if (!AccountId.fits(id)) throw noAccount(String(id));
  return id;
}

/** A key cannot suspend or delete its own account: nobody could undo it by that key. */
function otherThan(own: Account, id: string): string {
  if (id !== own.id) return id;
  throw invalid(AccountId.name, 'A key cannot suspend or delete its own account; the command line can.');
}
