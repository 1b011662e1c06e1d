import { isIPv6 } from 'node:net';
import { signInUrl } from '../http/dashboard/paths.js';
import { packageRoot } from '../package-root.js';
import type { Ledger } from '../ledger/ledger.js';
import { readConfig } from './config.js';

/** A link that signs a browser in to the account, once. `base`: the server's URL. */
export async function signInLink(ledger: Ledger, accountId: string, base: string): Promise<string> {
  const { token } = await ledger.access.createLink(accountId);
  return signInUrl(base, token);
}

/**
 * The URL of a server on this machine with this environment. A server that listens on all addresses is reached at
 * localhost.
 */
export function localUrl(): string {
  const { host, port } = readConfig(process.env, packageRoot);
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
