/** The limits that no variable sets are those that docs/operations.md promises, and the listener has them. */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
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

/** The number in the first group of what the page says, its lines joined. */
function documented(pattern: RegExp): number {
  const page = readFileSync(join(packageRoot, 'docs', 'operations.md'), 'utf8').replaceAll(/\s+/g, ' ');
  const found = pattern.exec(page)?.[1];
  if (found === undefined) throw new Error(`docs/operations.md does not say ${pattern.source}.`);
  return Number(found);
}

describe('the limits of a server in production', () => {
  it('are those of the operator’s page', () => {
    expect(settings.uploadIdleMs).to.equal(1000 * documented(/An upload may pause for (\d+) s/));
    expect(settings.headersTimeoutMs).to.equal(1000 * documented(/headers have (\d+) s/));
    expect(settings.receiveTimeoutMs).to.equal(60_000 * documented(/a whole upload (\d+) minutes/));
    expect(settings.requestTimeoutMs).to.equal(3_600_000 * documented(/a request with its work (\d+) hours/));
    expect(settings.answerStallMs).to.equal(1000 * documented(/client reads nothing for (\d+) s/));
  });

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
