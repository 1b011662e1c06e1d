/** The listener has the limits that no variable sets, which docs/settings.md lists. */
import type { Server } from 'node:http';
import { expect } from 'chai';
import express from 'express';
import { AddressLimit } from '../../src/http/limits/address-limit.js';
import { createListener } from '../../src/http/connections/listener.js';
import { createLogger } from '../../src/service/log.js';
import { packageRoot } from '../../src/package-root.js';
import { readConfig } from '../../src/service/config.js';
import { serverSettings } from '../../src/service/server-settings.js';
import { systemTimers } from '../../src/timers.js';

const settings = serverSettings(readConfig({}, packageRoot));

describe('the limits of a server in production', () => {
  it('are the listener’s', () => {
    const server: Server = createListener(express(), {
      settings,
      addresses: new AddressLimit(8),
      logger: createLogger({ level: 'info', stream: { write: () => undefined } }),
      metrics: new Proxy({} as never, { get: () => () => undefined }),
      timers: systemTimers,
    });
    expect(server.headersTimeout).to.equal(settings.headersTimeoutMs);
    expect(server.requestTimeout).to.equal(settings.receiveTimeoutMs);
    server.close();
  });
});
