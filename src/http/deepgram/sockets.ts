/** GET /v1/listen: Deepgram's live transcription. */
import { VerbatimError } from '../../errors.js';
import type { Identity } from '../../ledger/types.js';
import { isEncoded } from '../../live/options.js';
import type { LiveReservation } from '../../live/service.js';
import type { HttpDeps } from '../app/deps.js';
import { sessionOwner } from '../websocket/session-owner.js';
import type { AcceptedSocket, SocketRequest, SocketRoute } from '../websocket/upgrade.js';
import { LISTEN_PATH, listenError } from './errors.js';
import { ListenSession } from './listen-session.js';
import { listenOptions } from './query.js';

const SCHEME = /^(?:Token|Bearer) +(\S+)$/i;

export function listenSockets(deps: HttpDeps): SocketRoute[] {
  return [
    {
      path: LISTEN_PATH,
      keyOf,
      accept: (request, identity) => accept(request, identity, deps),
      errorForm: listenError,
    },
  ];
}

/** From the header, or in a browser from the subprotocol behind the scheme's name. */
function keyOf({ req, subprotocols }: SocketRequest): string {
  const [scheme = '', key] = subprotocols;
  if (isScheme(scheme) && key !== undefined) return key;
  return headerKey(req.headers.authorization);
}

/** Throws `missing_api_key`. */
export function headerKey(authorization: string | undefined): string {
  const [, given] = SCHEME.exec(authorization ?? '') ?? [];
  if (given !== undefined) return given;
  throw new VerbatimError('missing_api_key', 'Send the API key as "Authorization: Token <key>".');
}

function isScheme(name: string): boolean {
  return name === 'token' || name === 'bearer';
}

function takeDecoder(reservation: LiveReservation): void {
  try {
    reservation.takeDecoder();
  } catch (error) {
    reservation.release();
    throw error;
  }
}

async function accept(request: SocketRequest, identity: Identity, deps: HttpDeps): Promise<AcceptedSocket> {
  const { id: requestId, query, subprotocols } = request;
  const options = listenOptions(query, deps.speechModels);
  const owner = await sessionOwner(deps, request, identity, LISTEN_PATH);
  const reservation = await deps.live.reserveFor(owner, options.model, options.settings);
  if (isEncoded(options.format)) takeDecoder(reservation);
  const { timers, clock: now } = deps;
  const [scheme = ''] = subprotocols;
  return {
    subprotocol: isScheme(scheme) ? scheme : null,
    headers: {
      'dg-request-id': requestId,
      ...(options.ignored.length > 0 ? { 'X-Ignored-Fields': options.ignored.join(', ') } : {}),
    },
    run: (connection) => {
      new ListenSession({ connection, options, reservation, requestId, timers, now });
    },
    abandon: () => reservation.release(),
  };
}
