/** Live sessions from a page. The rest of the client is for Node.js. */
import { liveAddress, LiveTranscription, type LiveInput, type LiveSocket } from './live.js';

export { LiveTranscription, LiveTranscriptionError } from './live.js';
export type { LiveTranscriptionEvent, LiveInput, LiveWord } from './live.js';

/** The browser's own. */
declare const WebSocket: new (address: URL, protocols: string[]) => LiveSocket;

export interface BrowserConnection {
  /** Of the server, e.g. https://verbatim.example. It must permit the origin of the page, unless that is its own. */
  baseUrl: string;
  /** Short-lived, of POST /v1/auth/grant. A page must not have the account's key. */
  accessToken: string;
}

/** Speech in, text out while it is spoken: send() samples, and iterate over the session for its events. */
export function openLive(input: LiveInput, { baseUrl, accessToken }: BrowserConnection): LiveTranscription {
  return new LiveTranscription(new WebSocket(liveAddress(input, baseUrl), ['bearer', accessToken]));
}
