import { isIPv6 } from 'node:net';
import { signInUrl } from '../http/dashboard/paths.js';
import { packageRoot } from '../package-root.js';
import type { Ledger } from '../ledger/ledger.js';
import { readConfig } from './config.js';

/** Where a browser signs in to the account, once. `base`: the server's URL. */
export async function signInLink(ledger: Ledger, accountId: string, base: string): Promise<string> {
  const { token } = await ledger.access.createLink(accountId);
  return signInUrl(base, token);
}

/** Of a server on this machine with this environment; one that listens everywhere is on the loopback, too. */
export function localUrl(): string {
  const { host, port } = readConfig(process.env, packageRoot);
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
