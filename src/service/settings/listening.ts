/** Settings: where the service listens. */
import type { SettingTable } from './setting.js';

export const LISTENING_SETTINGS = {
  VERBATIM_HOST: {
    type: 'address',
    default: '127.0.0.1',
    allowed: 'an IP address of this machine, or a host name',
    since: '0.1.0',
    about:
      'The address on which the service listens. The default admits clients on the same machine only. `0.0.0.0` ' +
      'admits clients from everywhere; put a proxy with https before it.',
  },
  VERBATIM_PORT: {
    type: 'integer',
    default: 8080,
    minimum: 0,
    maximum: 65535,
    since: '0.1.0',
    about: 'The port for HTTP and WebSockets. With `0` the system picks a free port, and the service prints it.',
  },
  VERBATIM_AGENT_PORT: {
    type: 'integer',
    default: null,
    defaultText: 'none: no such port',
    minimum: 0,
    maximum: 65535,
    since: '0.2.0',
    about:
      'A second port, where load balancers ask how much work to send to this node. HAProxy calls it the agent ' +
      'check; see [Scale](scale.md).',
  },
  VERBATIM_WYOMING_HOST: {
    type: 'address',
    default: '127.0.0.1',
    allowed: 'an IP address of this machine, or a host name; only with `VERBATIM_WYOMING_PORT`',
    since: '0.2.0',
    about:
      'The address of the port for Wyoming. That port asks for no key, so whoever reaches it spends the credits ' +
      'of its account: let only your own machines reach it.',
  },
  VERBATIM_WYOMING_PORT: {
    type: 'integer',
    default: null,
    defaultText: 'none: no such port',
    minimum: 0,
    maximum: 65535,
    since: '0.2.0',
    about:
      'The port for clients of the Wyoming protocol, such as Home Assistant; see [Live](live.md). It needs ' +
      '`VERBATIM_WYOMING_KEY`.',
  },
  VERBATIM_WYOMING_KEY: {
    type: 'secret',
    default: '',
    allowed: 'an API key of this service; required with `VERBATIM_WYOMING_PORT`, and refused without it',
    since: '0.2.0',
    about: 'The API key of the account that the port for Wyoming serves. Its credits pay for all clients of the port.',
  },
} as const satisfies SettingTable;
