/** How clients of OpenAI's live sessions connect: with their key in a header, or in a browser in a subprotocol. */
import type { VerbatimError } from '../../errors.js';
import { bearerToken } from '../auth/auth.js';
import { openAiErrorBody, openAiRow } from '../openai/errors.js';
import type { SocketRequest } from '../websocket/upgrade.js';

const SUBPROTOCOL = 'realtime';
const KEY_PREFIX = 'openai-insecure-api-key.';

export function errorForm(error: VerbatimError): { status: number; body: object } {
  return { status: openAiRow(error.code).status, body: openAiErrorBody(error) };
}

/** In a browser a key can only travel in a subprotocol. */
export function keyOf({ req, subprotocols }: SocketRequest): string {
  const offered = subprotocols.find((name) => name.startsWith(KEY_PREFIX));
  return offered === undefined ? bearerToken(req.headers.authorization) : offered.slice(KEY_PREFIX.length);
}

/** Of the answer; null: the client offers none that it would take. */
export function subprotocolOf({ subprotocols }: SocketRequest): string | null {
  return subprotocols.includes(SUBPROTOCOL) ? SUBPROTOCOL : null;
}
