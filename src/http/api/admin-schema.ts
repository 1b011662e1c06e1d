/** What /admin takes and answers. */
import { Type, type Static } from 'typebox';
import { ROLES } from '../../ledger/types.js';
import type { AccountPlace, AccountUsage, UsagePlace } from '../../ledger/administration.js';
import type { Account as LedgerAccount, GrantedPack } from '../../ledger/types.js';
import { cursorOf, cursorParts, datedPlaceOf } from '../schema/cursor.js';
import { checkedParameter, parameter } from '../schema/parameter.js';
import { count, id, invalid, oneOf, shape, textOrNull, timestamp, timestampOrNull } from '../schema/shape.js';

const accountId = id('acc', 'Zk3v9Q0c7TfYb1Rn');
const email = { examples: ['ada@example.org'] };

export const AdminAccount = shape({
  id: accountId,
  email: Type.String(email),
  name: textOrNull({ examples: ['Ada', null] }),
  role: oneOf(ROLES, { description: 'What its owner sees in the dashboard.', examples: ['user'] }),
  credits: count('Credits that it can spend now.'),
  created_at: timestamp,
  suspended_at: timestampOrNull,
});

export function adminAccountBody(account: LedgerAccount, credits: number): Static<typeof AdminAccount> {
  const { id, email, name, role, createdAt, suspendedAt } = account;
  return { id, email, name, role, credits, created_at: createdAt, suspended_at: suspendedAt };
}

const nextCursor = textOrNull({
  description: 'Send it as `cursor` to get the next page; null: this is the last page.',
  examples: ['WyIyMDI2LTExLTIwIl0', null],
});

export const AdminAccountList = shape({
  accounts: Type.Array(AdminAccount, { description: 'The oldest first.' }),
  next_cursor: nextCursor,
});

/** The ledger checks their values. */
export const CreateAccountRequest = shape({
  email: Type.String({ maxLength: 254, ...email }),
  name: Type.Optional(Type.String({ maxLength: 100, examples: ['Ada'] })),
});

export const DeletedAccount = shape({
  id: accountId,
  deleted: Type.Unsafe<true>({ type: 'boolean', const: true, examples: [true] }),
});

export const GrantRequest = shape({
  amount: Type.Integer({ description: 'Whole credits, at least 1.', examples: [500] }),
  expires_at: Type.Optional(
    Type.String({
      description:
        'A future ISO 8601 date (its first moment, UTC), or date and time with a time zone. Absent: they ' +
        'never expire.',
      examples: ['2027-12-31T00:00:00Z'],
    }),
  ),
  payment_id: Type.Optional(
    Type.String({
      description:
        'Id of the payment: 1 to 255 printable ASCII characters. A payment grants credits once; a repeat ' +
        'with another amount or account is refused.',
      examples: ['pi_3QkZ'],
    }),
  ),
});

export const CreditGrant = shape({
  id: Type.String({ examples: ['42'] }),
  account_id: accountId,
  purchased: count('Credits of the pack.'),
  remaining: count('What is left of them.'),
  created_at: timestamp,
  expires_at: timestampOrNull,
  payment_id: textOrNull({ examples: ['pi_3QkZ', null] }),
});

export function creditGrantBody(pack: GrantedPack): Static<typeof CreditGrant> {
  const { id, accountId: account_id, purchased, remaining, createdAt, expiresAt, paymentId } = pack;
  return {
    ...{ id, account_id, purchased, remaining },
    ...{ created_at: createdAt, expires_at: expiresAt, payment_id: paymentId },
  };
}

const day = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  description: 'UTC day.',
  examples: ['2026-11-20'],
});

const UsageRow = shape({
  date: day,
  account_id: accountId,
  email: textOrNull({ description: 'null: the account is deleted.', ...email }),
  endpoint: Type.String({ examples: ['/api/v1/transcribe'] }),
  requests: count('Requests that were charged.'),
  minutes: count('Started minutes, as billed.'),
  credits: count('Credits charged.'),
});

export const AdminUsage = shape({
  from: day,
  to: day,
  usage: Type.Array(UsageRow, { description: 'By day, account and endpoint.' }),
  next_cursor: nextCursor,
});

export function adminUsageBody(
  window: { from: string; to: string },
  rows: readonly AccountUsage[],
  limit: number,
): Static<typeof AdminUsage> {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    ...window,
    usage: page.map(({ accountId: account_id, ...row }) => ({ ...row, account_id })),
    next_cursor: rows.length > limit && last !== undefined ? usageCursor(last) : null,
  };
}

const CSV_COLUMNS = 'date,account_id,email,endpoint,requests,minutes,credits\r\n';

/** RFC 4180, a page of rows a piece. */
export async function* usageCsv(pages: AsyncIterable<readonly AccountUsage[]>): AsyncGenerator<string> {
  yield CSV_COLUMNS;
  for await (const rows of pages) yield rows.map(csvLine).join('');
}

function csvLine({ date, accountId, email, endpoint, requests, minutes, credits }: AccountUsage): string {
  return `${[date, accountId, csvText(email ?? ''), endpoint, requests, minutes, credits].join(',')}\r\n`;
}

/** A spreadsheet would take an address that begins so for a formula. */
function csvText(text: string): string {
  const harmless = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export const AccountId = parameter({
  name: 'id',
  in: 'path',
  required: true,
  description: "The account's id.",
  schema: Type.String(),
  example: 'acc_Zk3v9Q0c7TfYb1Rn',
});

const PAGE = { minimum: 1, maximum: 1000, default: 100 } as const;

export const AdminLimit = checkedParameter({
  name: 'limit',
  in: 'query',
  required: false,
  description: 'Maximum number of rows in one answer.',
  schema: Type.Integer(PAGE),
  example: 50,
  refusal: `limit must be one integer from ${PAGE.minimum} to ${PAGE.maximum}.`,
});

export const DEFAULT_ADMIN_LIMIT = PAGE.default;

export const AdminCursor = checkedParameter({
  name: 'cursor',
  in: 'query',
  required: false,
  description: 'The `next_cursor` of the previous page.',
  schema: Type.String({ pattern: '^[A-Za-z0-9_-]{1,500}$' }),
  example: 'WyIyMDI2LTExLTIwIl0',
  refusal: 'cursor must be the next_cursor of an earlier answer.',
});

const usageDay = (name: 'from' | 'to', description: string) =>
  checkedParameter({
    name,
    in: 'query',
    required: false,
    description,
    schema: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    example: '2026-11-20',
    refusal: `${name} must be a UTC day, such as 2026-11-30.`,
  });

export const UsageFrom = usageDay('from', 'First UTC day; default: 29 days before `to`.');
export const UsageTo = usageDay('to', 'Last UTC day; default: today.');

export const UsageAccount = checkedParameter({
  name: 'account_id',
  in: 'query',
  required: false,
  description: 'Only usage of this account, also of a deleted one.',
  schema: Type.String({ pattern: '^acc_[A-Za-z0-9_-]{1,64}$' }),
  example: 'acc_Zk3v9Q0c7TfYb1Rn',
  refusal: "account_id must be one account's id.",
});

export const UsageFormat = checkedParameter({
  name: 'format',
  in: 'query',
  required: false,
  description: 'csv: all rows at once, as a file.',
  schema: Type.Unsafe<'json' | 'csv'>({ type: 'string', enum: ['json', 'csv'], default: 'json' }),
  example: 'csv',
  refusal: 'format must be json or csv.',
});

export function accountCursor({ createdAt, id }: AccountPlace): string {
  return cursorOf(createdAt, id);
}

function usageCursor({ date, accountId, endpoint }: UsagePlace): string {
  return cursorOf(date, accountId, endpoint);
}

/** Throws `invalid_request`. */
export function accountPlaceOf(cursor: string): AccountPlace {
  return datedPlaceOf(cursor, AdminCursor);
}

/** Throws `invalid_request`. */
export function usagePlaceOf(cursor: string): UsagePlace {
  const [date = '', accountId = '', endpoint = ''] = cursorParts(cursor, 3, AdminCursor);
  if (!UsageFrom.fits(date)) throw invalid(AdminCursor.name, AdminCursor.refusal);
  return { date, accountId, endpoint };
}
