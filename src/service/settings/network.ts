/** Settings: which networks, proxies and browsers the service trusts. */
import type { SettingTable } from './setting.js';

export const NETWORK_NAMES = ['loopback', 'linklocal', 'uniquelocal'] as const;

export const NETWORK_SETTINGS = {
  VERBATIM_WEBHOOK_ALLOW: {
    type: 'list',
    default: '',
    defaultText: 'none',
    allowed: 'IP addresses, networks such as `10.0.0.0/8` and host names, separated by commas',
    since: '0.2.0',
    about:
      'Targets of webhooks that are allowed beside the public internet. Without it, private, loopback and ' +
      'link-local addresses are refused, so that a webhook cannot reach your own network or the metadata service ' +
      'of a cloud. See [Jobs](jobs.md).',
  },
  VERBATIM_TRUST_PROXY: {
    type: 'list',
    default: '',
    defaultText: 'none',
    allowed:
      'IP addresses, networks such as `10.0.0.0/8`, `loopback`, `linklocal` and `uniquelocal`, separated by ' +
      'commas',
    since: '0.2.0',
    about:
      'The proxies whose `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host` are trusted. Set it behind ' +
      'every proxy: without it all clients have the address of the proxy, and signing in over https fails. See ' +
      '[HTTPS](https.md).',
  },
  VERBATIM_CORS_ORIGINS: {
    type: 'list',
    default: '',
    defaultText: 'none',
    allowed: '`*`, or origins such as `https://app.example.com`, separated by commas',
    since: '0.2.0',
    about:
      'The origins whose pages may call `/api` and `/v1` from a browser. An origin is scheme, host and port as ' +
      'browsers write them, without a path. Cookies are never allowed: a page sends a key itself, and whoever can ' +
      'read the page can read that key.',
  },
  VERBATIM_DASHBOARD: {
    type: 'choice',
    default: 'on',
    values: ['on', 'off'],
    since: '0.2.0',
    about:
      'Whether the pages under `/dashboard` exist; see [Dashboard](dashboard.md). With `off` the first start ' +
      'prints no link to sign in either.',
  },
} as const satisfies SettingTable;
