/** What GET /me and GET /usage take and answer. */
import { Type, type Static } from 'typebox';
import type { Balance, Identity, UsageReport } from '../../ledger/types.js';
import { checkedParameter, readParameter } from '../schema/parameter.js';
import { count, id, key, shape, textOrNull } from '../schema/shape.js';

export const Me = shape({
  user: shape({
    id: id('acc', 'Zk3v9Q0c7TfYb1Rn'),
    email: Type.String({ examples: ['ada@example.org'] }),
    name: textOrNull({ examples: ['Ada'] }),
  }),
  key: shape(key),
  credits: shape({
    balance: count('Credits that can be spent now: not expired, and not held by running requests.'),
    lifetime_purchased: count('All granted credits.'),
  }),
});

export function meBody({ account, key }: Identity, { balance, lifetimePurchased }: Balance): Static<typeof Me> {
  return {
    user: { id: account.id, email: account.email, name: account.name },
    key: { id: key.id, name: key.name, prefix: key.prefix },
    credits: { balance, lifetime_purchased: lifetimePurchased },
  };
}

const WINDOW = { minimum: 1, maximum: 90, default: 30 } as const;

export const Days = checkedParameter({
  name: 'days',
  in: 'query',
  required: false,
  description: 'Length of the window in UTC days; today counts as one of them.',
  schema: Type.Integer(WINDOW),
  example: 7,
  refusal: `days must be one integer from ${WINDOW.minimum} to ${WINDOW.maximum}.`,
});

export function parseDays(given: unknown): number {
  return readParameter(Days, given, WINDOW.default);
}

export const Usage = shape({
  window_days: Type.Integer({ minimum: WINDOW.minimum, maximum: WINDOW.maximum, examples: [30] }),
  total_minutes: count('Started minutes, as billed.'),
  total_credits: count('Credits spent in the window.'),
  by_day: Type.Array(
    shape({
      date: Type.String({ format: 'date', examples: ['2026-11-20'] }),
      minutes: count('Started minutes of the day.'),
    }),
    { description: 'Every UTC day of the window, oldest first, zeros included.' },
  ),
  by_endpoint: Type.Array(
    shape({
      endpoint: Type.String({ examples: ['/api/v1/transcribe'] }),
      minutes: count('Started minutes of the endpoint.'),
    }),
    { description: 'Largest first.' },
  ),
});

export function usageBody(report: UsageReport): Static<typeof Usage> {
  return {
    window_days: report.windowDays,
    total_minutes: report.totalMinutes,
    total_credits: report.totalCredits,
    by_day: report.byDay,
    by_endpoint: report.byEndpoint,
  };
}
