/** /v1/realtime: OpenAI's Realtime API, transcription sessions. */
import type { HttpDeps } from '../app/deps.js';
import { openAiRow } from '../openai/errors.js';
import { errorForm, keyOf, subprotocolOf } from './handshake.js';
import { installedName } from './installed-name.js';
import { namedModel } from '../openai/model-names.js';
import type { SocketConnection } from '../websocket/connection.js';
import { sessionOwner } from '../websocket/session-owner.js';
import type { AcceptedSocket, SocketRequest, SocketRoute } from '../websocket/upgrade.js';
import type { LiveReservation } from '../../live/service.js';
import type { EphemeralIdentity } from '../../ledger/types.js';
import { BETA, CURRENT } from './dialects.js';
import { writtenSettings } from './client-secrets.js';
import { defaultSettings, MODEL_PARAM, type RealtimeSettings } from './session-schema.js';
import { TranscriptionSession } from './transcription-session.js';

export const REALTIME_PATH = '/v1/realtime';

const BETA_SUBPROTOCOL = 'openai-beta.realtime-v1';

export function transcriptionSocket(deps: HttpDeps): SocketRoute {
  return { path: REALTIME_PATH, keyOf, accept: (request, identity) => accept(request, identity, deps), errorForm };
}

async function accept(request: SocketRequest, identity: EphemeralIdentity, deps: HttpDeps): Promise<AcceptedSocket> {
  const owner = await sessionOwner(deps, request, identity, REALTIME_PATH);
  const subprotocol = subprotocolOf(request);
  const installed = (name: string | null): string | null => installedName(name, deps, MODEL_PARAM);
  const reserve = (model: string | null, instead: LiveReservation | null = null): Promise<LiveReservation> =>
    deps.live.reserve(owner, model, { instead });
  const written = writtenSettings(identity.session);
  const named = request.query.get('model') ?? written?.model ?? null;
  const known = named === null || namedModel(named, deps).model !== null;
  if (!known || (named === null && written === null && request.query.get('intent') !== 'transcription')) {
    const run = (connection: SocketConnection): void => refuse(connection, named, deps);
    return { subprotocol, run, abandon: () => undefined };
  }
  const reservation = await reserve(installed(named));
  const settings: RealtimeSettings = { ...(written ?? defaultSettings(named)), model: named };
  const expiresAt = Math.round(deps.clock() / 1000) + deps.settings.maxLiveSeconds;
  const dialect = isBeta(request) ? BETA : CURRENT;
  return {
    subprotocol,
    run: (connection) => {
      new TranscriptionSession({ connection, dialect, settings, reservation, reserve, installed, expiresAt });
    },
    abandon: () => reservation.release(),
  };
}

function isBeta({ req, subprotocols }: SocketRequest): boolean {
  return req.headers['openai-beta'] === 'realtime=v1' || subprotocols.includes(BETA_SUBPROTOCOL);
}

/** A connection for anything but transcription gets an event that names what there is. */
function refuse(connection: SocketConnection, model: string | null, deps: HttpDeps): void {
  const names = deps.speechModels.list().map(({ info }) => info.modelName);
  const message =
    (model === null ? 'The connection names neither intent nor model. ' : `There is no speech model "${model}". `) +
    'This server has transcription sessions: connect with intent=transcription, or with model= one of ' +
    `${names.join(', ')}.`;
  const { type, code } = openAiRow('model_not_found');
  const error = { type, code, message, param: 'model', event_id: null };
  connection.begin({ message: () => undefined, closed: () => undefined });
  connection.send({ type: 'error', event_id: 'event_0', error });
  connection.close(1008, 'transcription sessions only');
}
