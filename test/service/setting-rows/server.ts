/** Where the server listens, keeps its data and writes its log, and whom it answers. */
import { expect } from 'chai';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { call } from '../../support/requests.js';
import { bearer } from '../../support/server.js';
import { DATABASE_PASSWORD, sharedCluster } from '../../support/postgres-cluster.js';
import { freePort } from '../../../bench/processes/free-port.js';
import { Served, workplace } from '../../support/served.js';
import { until } from '../../support/until.js';
import { connectionsAnswered, metricsOf, agentPortOf } from './effects.js';
import { FEW_CONNECTIONS, TOKEN } from './servers.js';
import type { SettingRows } from './servers.js';

/** The second start of a server, which has an account by then, answers Wyoming's clients at this address. */
async function describedBy(host: string | undefined, at: string): Promise<void> {
  const directory = workplace();
  const first = await Served.start({}, directory).listening();
  const key = await first.key();
  first.child.kill('SIGTERM');
  await first.ended();
  const port = await freePort();
  const served = await Served.start(
    {
      ...(host === undefined ? {} : { VERBATIM_WYOMING_HOST: host }),
      ...{ VERBATIM_WYOMING_PORT: String(port), VERBATIM_WYOMING_KEY: key },
    },
    directory,
  ).listening();
  const socket = connect(port, at).setEncoding('utf8');
  socket.write('{"type":"describe"}\n');
  const [answer] = (await once(socket, 'data')) as [string];
  socket.destroy();
  expect(JSON.parse(answer)).to.include({ type: 'info' });
  await served.stop();
}

export const serverRows = {
  VERBATIM_HOST: ({ plain, proxied }) => {
    expect(new URL(plain.url).hostname).to.equal('127.0.0.1');
    expect(new URL(proxied.url).hostname).to.equal('127.0.0.2');
  },
  VERBATIM_PORT: async ({ plain, set }) => {
    expect(plain.port).to.be.above(0);
    expect((await call(set, '/healthz')).status).to.equal(200);
    const taken = Served.start({ VERBATIM_PORT: String(set.port) });
    expect(await taken.ended()).to.equal(1);
    expect(taken.stderr).to.contain('Another program already listens on').and.contain(String(set.port));
    await taken.stop();
  },
  VERBATIM_AGENT_PORT: async ({ plain, proxied }) => {
    const agentPort = await agentPortOf(proxied);
    expect(await agentPortOf(plain)).to.equal(null);
    const socket = connect(Number(agentPort), '127.0.0.2').setEncoding('utf8');
    const [line] = (await once(socket, 'data')) as [string];
    expect(line).to.match(/^up ready \d+%\n$/);
  },
  VERBATIM_WYOMING_HOST: () => describedBy('127.0.0.3', '127.0.0.3'),
  VERBATIM_WYOMING_PORT: () => describedBy(undefined, '127.0.0.1'),
  VERBATIM_WYOMING_KEY: async () => {
    const served = Served.start({ VERBATIM_WYOMING_PORT: '0', VERBATIM_WYOMING_KEY: 'vb_unknown' });
    expect(await served.ended()).to.equal(2);
    expect(served.stderr).to.contain('VERBATIM_WYOMING_KEY: The API key is unknown or revoked');
    expect(served.stderr).not.to.contain('vb_unknown');
    await served.stop();
  },
  VERBATIM_DATA_DIR: ({ plain, proxied }) => {
    expect(existsSync(join(plain.directory, 'data', 'verbatim.db'))).to.equal(true);
    expect(existsSync(join(proxied.directory, 'elsewhere', 'verbatim.db'))).to.equal(true);
    for (const room of ['uploads', 'jobs']) {
      expect(existsSync(join(proxied.directory, 'elsewhere', room)), room).to.equal(true);
    }
    expect(existsSync(join(proxied.directory, 'data'))).to.equal(false);
  },
  VERBATIM_DATABASE: ({ set }) => {
    expect(existsSync(join(set.directory, 'ledger.db'))).to.equal(true);
    expect(existsSync(join(set.directory, 'data', 'verbatim.db'))).to.equal(false);
  },
  VERBATIM_DATABASE_CONNECTIONS: async () => {
    const cluster = await sharedCluster();
    await cluster.query('CREATE DATABASE of_the_settings');
    const served = Served.start({
      VERBATIM_DATABASE: cluster.url('of_the_settings'),
      VERBATIM_DATABASE_CONNECTIONS: '2',
      VERBATIM_SECRET: 'a secret of the environment',
    });
    const key = await (await served.listening()).key();
    const headers = bearer(key);
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(served, '/api/v1/me', { headers })));
    for (const { status, text } of answers) expect(status, text).to.equal(200);
    const [connections] = await cluster.query<{ n: string }>(
      `SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'verbatim' AND datname = 'of_the_settings'`,
    );
    expect(Number(connections?.n), 'and one that listens').to.equal(3);
    await served.stop();
    expect(served.stdout + served.stderr).not.to.contain(DATABASE_PASSWORD);
    expect(existsSync(join(served.directory, 'data', 'verbatim.db'))).to.equal(false);
  },
  VERBATIM_TRUST_PROXY: async ({ proxied }) => {
    // Its limit is as low; connections of the proxy itself do not count.
    const count = 2 * FEW_CONNECTIONS;
    expect(await connectionsAnswered(proxied, count, 200)).to.equal(count);
  },
  VERBATIM_CORS_ORIGINS: async ({ plain, proxied }) => {
    const origin = 'https://app.example.com';
    const allowed = async (served: Served): Promise<string | null> =>
      (await call(served, '/v1/models', { headers: { origin } })).headers.get('access-control-allow-origin');
    expect(await allowed(plain)).to.equal(null);
    expect(await allowed(proxied)).to.equal(origin);
  },
  VERBATIM_DASHBOARD: async ({ plain, set }) => {
    const { pathname } = new URL(/^ +(http\S+link\S+)$/m.exec(plain.stdout)?.[1] ?? '');
    expect(pathname).to.equal('/dashboard/link');
    expect((await call(plain, '/dashboard/sign-in')).status).to.equal(200);
    expect(set.stdout).not.to.contain('/dashboard');
    for (const path of ['', '/sign-in', '/link', '/account', '/assets/0/dashboard.css']) {
      const { status, headers } = await call(set, `/dashboard${path}`);
      expect(status, path).to.equal(404);
      expect(headers.get('content-type')).to.match(/^application\/json/);
    }
  },
  VERBATIM_LOG_LEVEL: async ({ plain, set }) => {
    await until(() => plain.stderr.includes('"msg":"ready"'));
    expect(set.stderr).not.to.contain('"msg"');
  },
  VERBATIM_SECRET: ({ plain, set }) => {
    expect(existsSync(join(plain.directory, 'data', 'verbatim.db.secret'))).to.equal(true);
    expect(existsSync(join(set.directory, 'ledger.db.secret'))).to.equal(false);
  },
  VERBATIM_METRICS_TOKEN: async ({ plain, set }) => {
    expect((await metricsOf(plain)).status).to.equal(200);
    expect((await metricsOf(set)).status).to.equal(401);
    expect((await metricsOf(set, 'another token')).status).to.equal(401);
    expect((await metricsOf(set, TOKEN)).status).to.equal(200);
  },
} satisfies SettingRows;
