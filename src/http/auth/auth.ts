/** Authentication: bearer keys, scopes, and the guard before every API endpoint. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { VerbatimError } from '../../errors.js';
import type { EphemeralIdentity, Identity } from '../../ledger/types.js';
import type { HttpDeps } from '../app/deps.js';
import type { Exchange } from '../app/exchange.js';
import type { Handler } from '../app/route.js';

const BEARER = /^Bearer(?: +(.*))?$/i;
/** The form of a key; anything else is refused without a look into the database. */
const RAW_KEY = /^vb_[A-Za-z0-9_-]{43}$/;

export type AuthenticatedHandler = (exchange: Exchange, identity: Identity) => void | Promise<void>;

/** `tokenOf`: the key in the Authorization header; throws `missing_api_key`. */
export function authenticated(
  { ledger, inFlight }: Pick<HttpDeps, 'ledger' | 'inFlight'>,
  handler: AuthenticatedHandler,
  tokenOf = bearerToken,
): Handler {
  return async (exchange) => {
    inFlight.assertOpen();
    const identity = await keyIdentity({ ledger }, tokenOf(exchange.req.headers.authorization));
    exchange.identity = identity;
    await handler(exchange, identity);
  };
}

/** Throws `invalid_api_key` or `account_suspended`. */
export async function keyIdentity({ ledger }: Pick<HttpDeps, 'ledger'>, rawKey: string): Promise<Identity> {
  const identity = RAW_KEY.test(rawKey) ? await ledger.keys.authenticate(rawKey) : null;
  if (identity === null) throw invalidKey();
  return identity;
}

/** Of a WebSocket, which ephemeral keys open as well. Throws `invalid_api_key` or `account_suspended`. */
export async function socketIdentity(deps: Pick<HttpDeps, 'ledger'>, rawKey: string): Promise<EphemeralIdentity> {
  if (!rawKey.startsWith('ek_')) return { ...(await keyIdentity(deps, rawKey)), session: null };
  const identity = await deps.ledger.keys.authenticateEphemeral(rawKey);
  if (identity === null) throw new VerbatimError('invalid_api_key', 'The ephemeral key is unknown or has expired.');
  return identity;
}

export function withScope(scope: string, handler: AuthenticatedHandler): AuthenticatedHandler {
  return (exchange, identity) => {
    if (!identity.key.scopes.includes(scope)) {
      throw new VerbatimError('insufficient_scope', `This endpoint needs a key with the scope ${scope}.`);
    }
    return handler(exchange, identity);
  };
}

/** For an endpoint that one fixed token opens. */
export function requireToken(authorization: string | undefined, expected: string): void {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  if (!timingSafeEqual(digest(bearerToken(authorization)), digest(expected))) throw invalidKey();
}

/** Throws `missing_api_key`. */
export function bearerToken(authorization: string | undefined): string {
  const match = BEARER.exec(authorization ?? '');
  if (match === null) {
    throw new VerbatimError('missing_api_key', 'Send the API key as "Authorization: Bearer <key>".');
  }
  return match[1] ?? '';
}

function invalidKey(): VerbatimError {
  return new VerbatimError('invalid_api_key', 'The API key is unknown or revoked.');
}
