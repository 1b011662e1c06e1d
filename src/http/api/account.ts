/** GET /me and GET /usage: what the key's own account is and has used. */
import { authenticated } from '../auth.js';
import type { HttpDeps } from '../deps.js';
import { meBody, parseDays, usageBody } from './account-schema.js';
import type { Route } from '../route.js';

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
