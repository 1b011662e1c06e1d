/** /keys: a management key makes, lists and revokes the account's keys. */
import { MANAGEMENT_SCOPE } from '../../ledger/scopes.js';
import { VerbatimError } from '../../errors.js';
import { authenticated, withScope, type AuthenticatedHandler } from '../auth/auth.js';
import type { HttpDeps } from '../app/deps.js';
import { readJsonObject } from '../app/request-body.js';
import { createdKeyBody, CreateKeyRequest, KeyId, keyListBody, revokedKeyBody } from './keys-schema.js';
import { parseBody } from '../schema/shape.js';
import type { Route } from '../app/route.js';

export function keyRoutes(deps: HttpDeps): Route[] {
  const { ledger, inFlight } = deps;
  const managed = (handler: AuthenticatedHandler) => authenticated(deps, withScope(MANAGEMENT_SCOPE, handler));
  const create = managed(async (exchange, { account }) => {
    const { name } = parseBody(CreateKeyRequest, await readJsonObject(exchange, deps));
    const key = await ledger.keys.create({ accountId: account.id, name, scopes: [] });
    exchange.json(201, createdKeyBody(key));
  });
  const list = managed(async (exchange, { account }) => {
    exchange.json(200, keyListBody(await ledger.keys.list(account.id)));
  });
  const revoke = managed(async (exchange, { account }) => {
    const id = exchange.req.params[KeyId.name];
    const revoked = KeyId.fits(id) ? await ledger.keys.revoke(account.id, id) : null;
    if (revoked === null) throw new VerbatimError('key_not_found', 'The account has no key with this id.');
    inFlight.revokeKey(revoked.id);
    exchange.json(200, revokedKeyBody(revoked));
  });
  return [
    { path: '/api/v1/keys', methods: { GET: list, POST: create } },
    { path: `/api/v1/keys/:${KeyId.name}`, methods: { DELETE: revoke } },
  ];
}
