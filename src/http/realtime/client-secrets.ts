/** Ephemeral keys for clients that must not have the account's own: both dialects of OpenAI's Realtime API. */
import { Type } from 'typebox';
import { authenticated } from '../auth/auth.js';
import type { HttpDeps } from '../app/deps.js';
import { optionalJsonObject } from '../app/optional-body.js';
import type { Exchange } from '../app/exchange.js';
import type { Route } from '../app/route.js';
import { BETA, CURRENT, type RealtimeDialect } from './dialects.js';
import { randomId } from '../../ledger/ids.js';
import { installedName } from './installed-name.js';
import { liveSettings } from './live-settings.js';
import { isTranslationSecret, ofAnotherKind } from './written-translation.js';
import { checked, defaultSettings, MODEL_PARAM, nullable, type RealtimeSettings } from './session-schema.js';

const DEFAULT_SECONDS = 600;

const ExpiresAfter = Type.Object({
  anchor: Type.Optional(Type.Literal('created_at')),
  seconds: Type.Optional(nullable(Type.Integer({ minimum: 10, maximum: 7200 }))),
});
const CurrentRequest = Type.Object({ expires_after: Type.Optional(nullable(ExpiresAfter)) });
const BetaRequest = Type.Object({
  client_secret: Type.Optional(nullable(Type.Object({ expires_at: Type.Optional(nullable(ExpiresAfter)) }))),
});

export function clientSecretRoutes(deps: HttpDeps): Route[] {
  const create = authenticated(deps, async (exchange, { key }) => {
    const body = await optionalJsonObject(exchange, deps);
    const seconds = lifetimeSeconds(body);
    const made = await makeKey({ dialect: CURRENT, session: body['session'] ?? {}, keyId: key.id, seconds }, deps);
    answerSecret(exchange, { value: made.value, expires_at: made.expiresAt, session: made.session });
  });
  const createBeta = authenticated(deps, async (exchange, { key }) => {
    const body = await optionalJsonObject(exchange, deps);
    const { client_secret: secret } = checked(BetaRequest, body, 'body');
    const seconds = secret?.expires_at?.seconds ?? DEFAULT_SECONDS;
    const made = await makeKey({ dialect: BETA, session: body, keyId: key.id, seconds }, deps);
    answerSecret(exchange, { ...made.session, client_secret: { value: made.value, expires_at: made.expiresAt } });
  });
  return [
    { path: '/v1/realtime/client_secrets', methods: { POST: create } },
    { path: '/v1/realtime/transcription_sessions', methods: { POST: createBeta } },
  ];
}

/** What an ephemeral key has in it; null: nothing. Throws `insufficient_scope` for another kind of session. */
export function writtenSettings(session: string | null): RealtimeSettings | null {
  if (session === null) return null;
  if (isTranslationSecret(session)) throw ofAnotherKind('/v1/realtime/translations');
  return { ...defaultSettings(null), ...(JSON.parse(session) as Partial<RealtimeSettings>) };
}

interface KeyRequest {
  dialect: RealtimeDialect;
  /** As the client sends it. */
  session: unknown;
  keyId: string;
  seconds: number;
}

/** Throws what a `session.update` of the same session would be answered with. */
async function makeKey(
  { dialect, session: given, keyId, seconds }: KeyRequest,
  deps: HttpDeps,
): Promise<{ value: string; expiresAt: number; session: object }> {
  const { model } = dialect.read(defaultSettings(null), given);
  const settings = dialect.read(defaultSettings(model), given);
  const name = installedName(settings.model, deps, MODEL_PARAM);
  const abilities = deps.live.abilities(name);
  abilities.check(liveSettings(settings));
  const { rawKey: value, expiresAt: expiresAtMs } = await deps.ledger.keys.createEphemeral({
    ...{ keyId, seconds, session: JSON.stringify(settings) },
  });
  const expiresAt = Math.floor(expiresAtMs / 1000);
  const session = dialect.body(settings, {
    id: randomId('sess'),
    expiresAt,
    model: settings.model ?? abilities.info.modelName,
  });
  return { value, expiresAt, session };
}

/** Of the key that a request in the current dialect asks for. Throws `invalid_request`. */
export function lifetimeSeconds(body: object): number {
  return checked(CurrentRequest, body, 'body').expires_after?.seconds ?? DEFAULT_SECONDS;
}

/** It must not lie in a cache. */
export function answerSecret(exchange: Exchange, body: object): void {
  exchange.json(200, body, { 'Cache-Control': 'no-store' });
}
