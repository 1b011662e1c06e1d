/** Links to read a kept transcript. */
import { VerbatimError } from '../../errors.js';
import type { HttpDeps } from '../app/deps.js';
import type { Exchange } from '../app/exchange.js';
import { readJsonObject } from '../app/request-body.js';
import type { Route } from '../app/route.js';
import { SHARE } from '../app/share-path.js';
import { authenticated } from '../auth/auth.js';
import { parseBody } from '../schema/shape.js';
import { CreateShareRequest, ShareId, shareListBody } from './shares-schema.js';
import { TranscriptId } from './transcripts-schema.js';

export function shareRoutes(deps: HttpDeps, transcript: string): Route[] {
  const { library, clock } = deps;
  const create = authenticated(deps, async (exchange, { account }) => {
    const { expires_at: expiresAt, audio = false } = parseBody(
      CreateShareRequest,
      await readJsonObject(exchange, deps),
    );
    const created = await library.share(account.id, idOf(exchange), { expiresAt, includesAudio: audio });
    if (created === null) throw noTranscript();
    const { share, token } = created;
    exchange.json(201, { id: share.id, url: shareUrl(exchange, token), expires_at: share.expiresAt });
  });
  const list = authenticated(deps, async (exchange, { account }) => {
    const id = idOf(exchange);
    if ((await library.find(account.id, id)) === null) throw noTranscript();
    exchange.json(200, shareListBody(await library.shares(account.id, id)));
  });
  const revoke = authenticated(deps, async (exchange, { account }) => {
    const share = exchange.req.params[ShareId.name];
    const id = idOf(exchange);
    if ((await library.find(account.id, id)) === null) throw noTranscript();
    if (!ShareId.fits(share) || !(await library.revokeShare(account.id, id, share))) {
      throw new VerbatimError('share_not_found', 'The transcript has no link with this id.');
    }
    exchange.json(200, { id: share, revoked_at: new Date(clock()).toISOString() });
  });
  const shares = `${transcript}/shares`;
  return [
    { path: shares, methods: { GET: list, POST: create } },
    { path: `${shares}/:${ShareId.name}`, methods: { DELETE: revoke } },
  ];
}

/** Where the client has reached the server. */
function shareUrl({ req }: Exchange, token: string): string {
  return `${req.protocol}://${req.host}${SHARE}/${token}`;
}

function idOf({ req }: Exchange): string {
  const id = req.params[TranscriptId.name];
  return TranscriptId.fits(id) ? id : '';
}

function noTranscript(): VerbatimError {
  return new VerbatimError('transcript_not_found', 'The account keeps no transcript with this id.');
}
