/**
 * /share: a transcript for anybody who has its link. It only reads, names no account, and is not to be found by search
 * engines. The link's token is in no log: routes are logged by their templates.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import { VerbatimError } from '../../errors.js';
import type { ErrorForm } from '../app/error-handler.js';
import type { HttpDeps } from '../app/deps.js';
import { HTML_TYPE, type Exchange } from '../app/exchange.js';
import type { Route } from '../app/route.js';
import { SHARE } from '../app/share-path.js';
import { ERROR_TABLE } from '../errors/error-table.js';
import type { SharedTranscript } from '../../library/library.js';
import { SHARE_STYLE_SOURCE } from './share-style.js';
import { refusedShareView, shareView } from './share-view.js';

const TOKEN = 'token';

/** Nothing runs, nothing is sent elsewhere, and no page that is opened from here learns the link. */
const HEADERS: OutgoingHttpHeaders = Object.freeze({
  'Content-Security-Policy': [
    `default-src 'none'; media-src 'self'; style-src ${SHARE_STYLE_SOURCE}; img-src 'self'`,
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex, nofollow, noarchive',
});

export function sharedRoutes({ library }: HttpDeps): Route[] {
  const shared = async ({ req }: Exchange): Promise<SharedTranscript> => {
    const token = req.params[TOKEN];
    const found = typeof token === 'string' ? await library.findShared(token) : null;
    if (found === null) throw new VerbatimError('not_found', 'This link does not exist, or it does not work any more.');
    return found;
  };
  return [
    {
      path: `${SHARE}/:${TOKEN}`,
      methods: {
        GET: async (exchange) => {
          const found = await shared(exchange);
          // Relative to the page: the token is written nowhere.
          const audio = hasAudio(found) ? `${exchange.req.path.split('/').at(-1) ?? ''}/audio` : null;
          exchange.send(200, HTML_TYPE, shareView(found, audio).text, HEADERS);
        },
      },
    },
    {
      path: `${SHARE}/:${TOKEN}/audio`,
      methods: {
        GET: async (exchange) => {
          const found = await shared(exchange);
          const recording = hasAudio(found) ? await library.recording(found.stored) : null;
          if (recording === null) throw new VerbatimError('not_found', 'This link has no recording.');
          await exchange.recording(recording.path, recording.type, {
            ...{ 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex, nofollow, noarchive' },
          });
        },
      },
    },
  ];
}

function hasAudio({ share, stored }: SharedTranscript): boolean {
  return share.includesAudio && stored.audioBytes > 0;
}

export const shareError: ErrorForm = ({ code, message }) => ({
  status: ERROR_TABLE[code].status,
  body: refusedShareView(code === 'internal_error' ? ERROR_TABLE.internal_error.message : message).text,
  headers: HEADERS,
});
