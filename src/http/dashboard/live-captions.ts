/** Captions while one speaks: a live session of the page to try a recording, for whoever is signed in. */
import type { Request } from 'express';
import { normalizeLanguage } from '../../engine/languages.js';
import { VerbatimError } from '../../errors.js';
import type { Identity } from '../../ledger/types.js';
import type { SessionEnd, SessionEvent } from '../../live/events.js';
import { LazySession } from '../../live/lazy-session.js';
import { DEFAULT_SETTINGS, type LiveSettings } from '../../live/options.js';
import type { LiveReservation } from '../../live/service.js';
import type { LiveSession } from '../../live/session.js';
import { requestError } from '../../transcription/request-errors.js';
import type { HttpDeps } from '../app/deps.js';
import type { Message, SocketConnection } from '../websocket/connection.js';
import type { AcceptedSocket, SocketRequest, SocketRoute } from '../websocket/upgrade.js';
import { sessionToken } from './cookie.js';
import { PATHS } from './paths.js';
import { Refusal } from './refusal.js';
import { requireSameOrigin, siteOf } from './site.js';
import { TEXTS } from './texts.js';

const LOWEST_RATE = 8000;
const HIGHEST_RATE = 48_000;

export function liveCaptionSockets(deps: HttpDeps): SocketRoute[] {
  if (!deps.settings.dashboard) return [];
  return [
    {
      path: PATHS.tryLive,
      keyOf: () => {
        throw new VerbatimError('missing_api_key', TEXTS.errors.signedOut);
      },
      signedIn: (request) => signedIn(request, deps),
      accept: (request, identity) => accept(request, identity, deps),
    },
  ];
}

async function signedIn({ req }: SocketRequest, { ledger }: HttpDeps): Promise<Identity> {
  // The message is Express's.
  const request = { req: req as Request };
  const site = siteOf(request);
  refuseOthers(request, site);
  const token = sessionToken(request, site);
  const found = token === null ? null : await ledger.access.findSession(token);
  if (found === null) throw new VerbatimError('invalid_api_key', TEXTS.errors.signedOut);
  const { account } = found;
  if (account.suspendedAt !== null) throw new VerbatimError('account_suspended', TEXTS.errors.suspended);
  return { account, key: await ledger.access.dashboardKey(account.id) };
}

function refuseOthers(...[request, site]: Parameters<typeof requireSameOrigin>): void {
  try {
    requireSameOrigin(request, site);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new VerbatimError('insufficient_scope', error.message);
  }
}

async function accept(
  { id: requestId, query }: SocketRequest,
  { account, key }: Identity,
  deps: HttpDeps,
): Promise<AcceptedSocket> {
  const sampleRate = Number(query.get('rate'));
  if (!Number.isInteger(sampleRate) || sampleRate < LOWEST_RATE || sampleRate > HIGHEST_RATE) {
    const message = `rate must be an integer from ${LOWEST_RATE} to ${HIGHEST_RATE}.`;
    throw new VerbatimError('invalid_request', message, { param: 'rate' });
  }
  const language = normalizeLanguage(query.get('language') ?? '');
  const source = { kind: 'live', name: null } as const;
  const keep = await deps.library.keeping.orderFor(account.id, { keep: null, title: null, source });
  const owner = { accountId: account.id, keyId: key.id, requestId, endpoint: PATHS.tryLive, keep };
  const translateTo = normalizeLanguage(query.get('translate_to') ?? '');
  const settings = { ...DEFAULT_SETTINGS, language, translateTo, interim: true };
  const reservation = await deps.live.reserveFor(owner, null, settings);
  return {
    subprotocol: null,
    run: (connection) => {
      new Captions({ connection, reservation, sampleRate, settings, balance: () => balanceOf(account.id, deps) });
    },
    abandon: () => reservation.release(),
  };
}

async function balanceOf(accountId: string, { ledger }: HttpDeps): Promise<number> {
  return (await ledger.credits.balance(accountId)).balance;
}

interface CaptionParts {
  connection: SocketConnection;
  reservation: LiveReservation;
  sampleRate: number;
  settings: LiveSettings;
  balance: () => Promise<number>;
}

/** What browser/captions.ts sends and reads: samples of 16 bits, {"type": "stop"}, and the messages below. */
class Captions {
  readonly #live: LazySession;

  constructor(private readonly parts: CaptionParts) {
    this.#live = new LazySession(parts.reservation, (end) => void this.#ended(end));
    parts.connection.begin({
      message: (message) => this.#message(message),
      closed: () => this.#live.leave(),
    });
  }

  async #message({ data, isBinary }: Message): Promise<void> {
    try {
      const { session } = this.#live;
      if (isBinary) await (await this.#begun()).append(data);
      else if (session === null) this.parts.connection.close(1000, '');
      else session.finish();
      if (!isBinary) await this.parts.connection.payForUseless(data.length);
    } catch (error) {
      await this.#ended({ how: 'refused', error: requestError(error) });
    }
  }

  #begun(): Promise<LiveSession> {
    const { sampleRate, settings } = this.parts;
    return this.#live.begin({
      format: { encoding: 's16le', sampleRate, channels: 1 },
      settings,
      emit: (event) => this.#emit(event),
    });
  }

  #emit(event: SessionEvent): void {
    if (event.type !== 'partial' && event.type !== 'final' && event.type !== 'translated') return;
    const { type, text, language } = event;
    this.parts.connection.send({ type, text, language });
  }

  async #ended(end: SessionEnd): Promise<void> {
    const { connection, balance } = this.parts;
    if (end.how === 'left') return;
    if (end.how === 'refused') connection.send({ type: 'error', message: end.error.message });
    else connection.send({ type: 'done', credits_remaining: await balance() });
    connection.close(1000, '');
  }
}
