/** The URL that a client wants called, and the secret that its messages are signed with. */
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { VerbatimError } from '../errors.js';
import type { AddressGuard } from './addresses.js';

/** Of a URL. */
export const MOST_URL_CHARACTERS = 2048;

const PREFIX = 'whsec_';
/** By the Standard Webhooks specification. */
const LEAST_SECRET_BYTES = 24;
const MOST_SECRET_BYTES = 64;
const NEW_SECRET_BYTES = 32;

/**
 * Throws `invalid_request`. A name is looked up, and refused, when a message is sent: it may mean something else by
 * then.
 */
export function checkWebhookUrl(text: string, guard: AddressGuard): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw refusal('webhook_url', 'webhook_url must be an http or https URL.');
  }
  if (url.username !== '' || url.password !== '') {
    throw refusal('webhook_url', 'webhook_url must not have a user name or password.');
  }
  const host = hostOf(url);
  if (isIP(host) !== 0 && !guard.permits(host, host)) throw refusal('webhook_url', refusedAddress(host));
  return url.href;
}

/** Throws `invalid_request`. */
export function checkWebhookSecret(text: string): string {
  const base64 = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '';
  const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? Buffer.from(base64, 'base64').length : 0;
  if (bytes >= LEAST_SECRET_BYTES && bytes <= MOST_SECRET_BYTES) return text;
  throw refusal(
    'webhook_secret',
    `webhook_secret must be "${PREFIX}" and ${LEAST_SECRET_BYTES} to ${MOST_SECRET_BYTES} bytes in base64.`,
  );
}

export function newWebhookSecret(): string {
  return PREFIX + randomBytes(NEW_SECRET_BYTES).toString('base64');
}

/** Without the brackets of IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

export function refusedAddress(host: string): string {
  return `${host} is not an address of the public internet, and VERBATIM_WEBHOOK_ALLOW does not name it.`;
}

function refusal(param: string, message: string): VerbatimError {
  return new VerbatimError('invalid_request', message, { param });
}
