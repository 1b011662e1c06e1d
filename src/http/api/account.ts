/** GET /me and GET /usage: what the key's own account is and has used. */
import { VerbatimError } from '../../errors.js';
import { authenticated } from '../auth.js';
import type { HttpDeps } from '../deps.js';
import { meBody, usageBody } from '../responses.js';
import type { Route } from '../route.js';

const DEFAULT_DAYS = 30;
const MAX_DAYS = 90;

export function accountRoutes(deps: HttpDeps): Route[] {
  const { ledger } = deps;
  return [
    {
      path: '/api/v1/me',
      methods: {
        GET: authenticated(deps, async (exchange, identity) => {
          exchange.json(200, meBody(identity, await ledger.balance(identity.account.id)));
        }),
      },
    },
    {
      path: '/api/v1/usage',
      methods: {
        GET: authenticated(deps, async (exchange, { account }) => {
          const days = parseDays(exchange.req.query['days']);
          exchange.json(200, usageBody(await ledger.usage(account.id, days)));
        }),
      },
    },
  ];
}

function parseDays(given: unknown): number {
  if (given === undefined) return DEFAULT_DAYS;
  const days = typeof given === 'string' && /^\d{1,4}$/.test(given) ? Number(given) : 0;
  if (days < 1 || days > MAX_DAYS) {
    const message = `days must be one integer from 1 to ${MAX_DAYS}.`;
    throw new VerbatimError('invalid_request', message, { param: 'days' });
  }
  return days;
}
