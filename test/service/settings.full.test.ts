/**
 * The table of variables: the shipped server, started as a process, once as it comes and once with each of them set; a
 * row shows what the variable does.
 */
import { expect } from 'chai';
import { availableParallelism } from 'node:os';
import { threadPoolSize } from '../../src/service/thread-pool.js';
import { VARIABLES } from '../../src/service/variables.js';
import { buildDashboard } from '../support/dashboard.js';
import { call } from '../support/requests.js';
import type { Served } from '../support/served.js';
import { loads } from './setting-rows/effects.js';
import { engineRows } from './setting-rows/engine.js';
import { limitRows } from './setting-rows/limits.js';
import { serverRows } from './setting-rows/server.js';
import { startServers } from './setting-rows/servers.js';
import type { Servers, SettingRows } from './setting-rows/servers.js';

const rows: Required<SettingRows> = { ...serverRows, ...engineRows, ...limitRows };

describe('verbatim serve, set by the environment', () => {
  let servers: Servers;

  before(async () => {
    buildDashboard();
    servers = await startServers();
  });
  after(() => Promise.all(Object.values(servers).map((served: Served) => served.stop())));

  it('has a row for every variable', () => {
    expect(Object.keys(rows)).to.have.members([...VARIABLES]);
  });

  for (const [variable, showEffect] of Object.entries(rows)) it(variable, () => showEffect(servers));

  it('prints the keys of a first start, which open its doors', async () => {
    const { plain } = servers;
    expect(plain.stdout).to.match(/This database was empty.*API key +vb_.*management key +vb_.*curl -H/s);
    const headers = { authorization: `Bearer ${await plain.key()}` };
    expect((await call(plain, '/api/v1/me', { headers })).status).to.equal(200);
  });

  it('has a thread of the pool for every slot, translator and file', () => {
    const [plain] = loads(servers.plain);
    const [set] = loads(servers.set);
    expect(plain?.poolSize).to.equal(String(threadPoolSize({}, availableParallelism(), 1)));
    expect(set?.poolSize).to.equal(String(threadPoolSize({ VERBATIM_SLOTS: '3' }, availableParallelism(), 1)));
  });
});
