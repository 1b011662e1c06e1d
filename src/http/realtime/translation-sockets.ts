/** /v1/realtime/translations: OpenAI's Realtime API, translation sessions, and the ephemeral keys for them. */
import { randomBytes } from 'node:crypto';
import type { EphemeralIdentity } from '../../ledger/types.js';
import type { LiveReservation } from '../../live/service.js';
import type { HttpDeps } from '../app/deps.js';
import { optionalJsonObject } from '../app/optional-body.js';
import type { Route } from '../app/route.js';
import { authenticated } from '../auth/auth.js';
import { installedModel, namedModel } from '../openai/model-names.js';
import type { AcceptedSocket, SocketRequest, SocketRoute } from '../websocket/upgrade.js';
import { answerSecret, lifetimeSeconds } from './client-secrets.js';
import { errorForm, keyOf, subprotocolOf } from './handshake.js';
import { checkTranslation, type CompleteTranslation } from './translation-check.js';
import { newTranslation, translationBody, type TranslationSettings } from './translation-schema.js';
import { TranslationSession } from './translation-session.js';
import { writtenText, writtenTranslation } from './written-translation.js';

export const TRANSLATIONS_PATH = '/v1/realtime/translations';

export function translationSocket(deps: HttpDeps): SocketRoute {
  return { path: TRANSLATIONS_PATH, keyOf, accept: (request, identity) => accept(request, identity, deps), errorForm };
}

async function accept(
  request: SocketRequest,
  { account, key, session }: EphemeralIdentity,
  deps: HttpDeps,
): Promise<AcceptedSocket> {
  const owner = { accountId: account.id, keyId: key.id, requestId: request.id, endpoint: TRANSLATIONS_PATH };
  const written = writtenTranslation(session);
  const model = request.query.get('model') ?? written?.model ?? null;
  const installed = (name: string | null): string | null => installedName(name, deps);
  const reservation = await deps.live.reserve(owner, installed(model), {
    extras: { translated: true, diarized: false },
  });
  const settings = checkedOrReleased({ ...(written ?? newTranslation({})), model }, reservation, installed);
  const expiresAt = Math.round(deps.clock() / 1000) + deps.settings.maxLiveSeconds;
  return {
    subprotocol: subprotocolOf(request),
    run: (connection) => {
      new TranslationSession({ connection, settings, reservation, installed, expiresAt });
    },
    abandon: () => reservation.release(),
  };
}

function checkedOrReleased(
  settings: TranslationSettings,
  reservation: LiveReservation,
  installed: (name: string | null) => string | null,
): CompleteTranslation {
  try {
    return checkTranslation(settings, { abilities: reservation, installed });
  } catch (error) {
    reservation.release();
    throw error;
  }
}

/** null: the default model. Throws `model_not_found`. */
function installedName(name: string | null, deps: HttpDeps): string | null {
  if (name === null) return null;
  installedModel(name, deps);
  return namedModel(name, deps).name;
}

export function translationSecretRoutes(deps: HttpDeps): Route[] {
  const create = authenticated(deps, async (exchange, { key }) => {
    const body = await optionalJsonObject(exchange, deps);
    const seconds = lifetimeSeconds(body);
    const given = newTranslation(body['session'] ?? {});
    const installed = (name: string | null): string | null => installedName(name, deps);
    const abilities = deps.live.abilities(installed(given.model));
    const settings = checkTranslation(given, { abilities, installed });
    const made = await deps.ledger.keys.createEphemeral({ keyId: key.id, seconds, session: writtenText(settings) });
    const expiresAt = Math.floor(made.expiresAt / 1000);
    const id = `sess_${randomBytes(12).toString('base64url')}`;
    const session = translationBody(settings, { id, expiresAt, model: given.model ?? abilities.info.modelName });
    answerSecret(exchange, { value: made.rawKey, expires_at: expiresAt, session });
  });
  return [{ path: `${TRANSLATIONS_PATH}/client_secrets`, methods: { POST: create } }];
}
