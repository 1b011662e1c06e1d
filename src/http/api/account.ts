/** GET /me and GET /usage: the key's own account and its usage. */
import { authenticated } from '../auth/auth.js';
import type { HttpDeps } from '../app/deps.js';
import { meBody, parseDays, usageBody } from './account-schema.js';
import type { Route } from '../app/route.js';

export function accountRoutes(deps: HttpDeps): Route[] {
  const { ledger } = deps;
  return [
    {
      path: '/api/v1/me',
      methods: {
        GET: authenticated(deps, async (exchange, identity) => {
          exchange.json(200, meBody(identity, await ledger.credits.balance(identity.account.id)));
        }),
      },
    },
    {
      path: '/api/v1/usage',
      methods: {
        GET: authenticated(deps, async (exchange, { account }) => {
          const days = parseDays(exchange.req.query['days']);
          exchange.json(200, usageBody(await ledger.history.report(account.id, days)));
        }),
      },
    },
  ];
}
