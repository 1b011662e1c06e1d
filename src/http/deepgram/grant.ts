/** POST /v1/auth/grant: a token for a short time, which opens WebSockets. */
import { authenticated } from '../auth/auth.js';
import type { HttpDeps } from '../app/deps.js';
import { optionalJsonObject } from '../app/optional-body.js';
import type { Route } from '../app/route.js';
import { parseBody } from '../schema/shape.js';
import { TokenRequest } from './grant-schema.js';
import { headerKey } from './sockets.js';

export const GRANT_PATH = '/v1/auth/grant';

const DEFAULT_SECONDS = 30;

export function grantRoutes(deps: HttpDeps): Route[] {
  const grant = authenticated(
    deps,
    async (exchange, { key }) => {
      const body = parseBody(TokenRequest, await optionalJsonObject(exchange, deps));
      const seconds = body.ttl_seconds ?? DEFAULT_SECONDS;
      const { rawKey } = await deps.ledger.keys.createEphemeral({ keyId: key.id, seconds, session: null });
      exchange.json(200, { access_token: rawKey, expires_in: seconds });
    },
    headerKey,
  );
  return [{ path: GRANT_PATH, methods: { POST: grant } }];
}
