/** /v1/realtime/translations: OpenAI's Realtime API, translation sessions, and the ephemeral keys for them. */
import type { EphemeralIdentity } from '../../ledger/types.js';
import type { HttpDeps } from '../app/deps.js';
import { optionalJsonObject } from '../app/optional-body.js';
import type { Route } from '../app/route.js';
import { authenticated } from '../auth/auth.js';
import { sessionOwner } from '../websocket/session-owner.js';
import type { AcceptedSocket, SocketRequest, SocketRoute } from '../websocket/upgrade.js';
import { answerSecret, lifetimeSeconds } from './client-secrets.js';
import { errorForm, keyOf, subprotocolOf } from './handshake.js';
import { installedName } from './installed-name.js';
import { randomId } from '../../ledger/ids.js';
import { checkTranslation } from './translation-check.js';
import { newTranslation, translationBody } from './translation-schema.js';
import { TranslationSession } from './translation-session.js';
import { writtenText, writtenTranslation } from './written-translation.js';

export const TRANSLATIONS_PATH = '/v1/realtime/translations';

export function translationSocket(deps: HttpDeps): SocketRoute {
  return { path: TRANSLATIONS_PATH, keyOf, accept: (request, identity) => accept(request, identity, deps), errorForm };
}

async function accept(request: SocketRequest, identity: EphemeralIdentity, deps: HttpDeps): Promise<AcceptedSocket> {
  const owner = await sessionOwner(deps, request, identity, TRANSLATIONS_PATH);
  const written = writtenTranslation(identity.session);
  const model = request.query.get('model') ?? written?.model ?? null;
  const installed = (name: string | null): string | null => installedName(name, deps, 'model');
  const reservation = await deps.live.reserve(owner, installed(model), {
    extras: { translated: true, diarized: false },
  });
  const given = { ...(written ?? newTranslation({})), model };
  const settings = reservation.orRelease(() => checkTranslation(given, { abilities: reservation, installed }));
  const expiresAt = Math.round(deps.clock() / 1000) + deps.settings.maxLiveSeconds;
  return {
    subprotocol: subprotocolOf(request),
    run: (connection) => {
      new TranslationSession({ connection, settings, reservation, installed, expiresAt });
    },
    abandon: () => reservation.release(),
  };
}

export function translationSecretRoutes(deps: HttpDeps): Route[] {
  const create = authenticated(deps, async (exchange, { key }) => {
    const body = await optionalJsonObject(exchange, deps);
    const seconds = lifetimeSeconds(body);
    const given = newTranslation(body['session'] ?? {});
    const installed = (name: string | null): string | null => installedName(name, deps, 'model');
    const abilities = deps.live.abilities(installed(given.model));
    const settings = checkTranslation(given, { abilities, installed });
    const made = await deps.ledger.keys.createEphemeral({ keyId: key.id, seconds, session: writtenText(settings) });
    const expiresAt = Math.floor(made.expiresAt / 1000);
    const about = { id: randomId('sess'), expiresAt };
    const session = translationBody(settings, { ...about, model: given.model ?? abilities.info.modelName });
    answerSecret(exchange, { value: made.rawKey, expires_at: expiresAt, session });
  });
  return [{ path: `${TRANSLATIONS_PATH}/client_secrets`, methods: { POST: create } }];
}
