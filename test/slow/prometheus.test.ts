/**
 * A real Prometheus scrapes a real server by the shipped configuration: its rules are healthy, and the dashboard's
 * queries have answers.
 */
import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, openAsBlob, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { spokenPcm } from '../support/live-audio.js';
import { dashboardQueries, promtool, RULES } from '../support/monitoring.js';
import { Served } from '../support/served.js';
import { bearer } from '../support/server.js';
import { SocketClient } from '../support/socket-client.js';
import { sample } from '../support/speech.js';
import { until } from '../support/until.js';
import { freePort } from '../../bench/processes/free-port.js';

const TOKEN = 'a token for the tests';

interface RuleGroups {
  data: { groups: { rules: { name: string; health: string; lastEvaluation: string; state: string }[] }[] };
}

describe('Prometheus', () => {
  let directory: string;
  let served: Served;
  let prometheus: ChildProcess;
  let log = '';
  let url: string;

  /** As shipped, but for the target, the token and the pace. */
  function configuration(): string {
    writeFileSync(join(directory, 'token'), TOKEN);
    copyFileSync(RULES, join(directory, 'verbatim.rules.yml'));
    const shipped = readFileSync(join(dirname(RULES), 'prometheus.yml'), 'utf8');
    const config = shipped
      .replace('127.0.0.1:8080', `127.0.0.1:${served.port}`)
      .replace('# authorization:', 'authorization:')
      .replace('/etc/prometheus/verbatim.token', join(directory, 'token'))
      .replace('scrape_interval: 15s', 'scrape_interval: 1s');
    const file = join(directory, 'prometheus.yml');
    writeFileSync(file, `global: { evaluation_interval: 1s }\n${config}`);
    return file;
  }

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-prometheus-'));
    served = await Served.start({ VERBATIM_METRICS_TOKEN: TOKEN }).listening();
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    prometheus = spawn('prometheus', [
      `--config.file=${configuration()}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    prometheus.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    await until(async () => {
      if (prometheus.exitCode !== null) throw new Error(log);
      return (await fetch(`${url}/-/ready`).catch(() => null))?.ok ?? false;
    });
  });

  after(async () => {
    prometheus.kill();
    await once(prometheus, 'exit');
    await served.stop();
    rmSync(directory, { recursive: true });
  });

  async function post(path: string): Promise<{ id: string }> {
    const body = new FormData();
    body.append('audio', await openAsBlob(sample('en-wav16.wav').path), 'clip.wav');
    const headers = bearer(await served.key());
    const response = await fetch(`${served.url}${path}`, { method: 'POST', headers, body });
    expect(response.ok, String(response.status)).to.equal(true);
    return (await response.json()) as { id: string };
  }

  /** A live session. */
  async function speak(): Promise<void> {
    const path = '/v1/listen?encoding=linear16&sample_rate=16000';
    const client = await SocketClient.connect(served.url + path, [], { headers: bearer(await served.key()) });
    client.socket.send(spokenPcm());
    client.send({ type: 'CloseStream' });
    expect((await client.untilClosed()).code).to.equal(1000);
  }

  async function rules(): Promise<RuleGroups['data']['groups'][number]['rules']> {
    const { data } = (await (await fetch(`${url}/api/v1/rules`)).json()) as RuleGroups;
    return data.groups.flatMap(({ rules }) => rules);
  }

  function rows(expr: string): string[] {
    const { status, output } = promtool('query', 'instant', url, expr);
    expect(status, `${expr}\n${output}`).to.equal(0);
    return output.split('\n').filter(Boolean);
  }

  it('evaluates every rule, and none complains of a server that does well', async () => {
    await until(async () => (await rules()).every(({ health }) => health !== 'unknown'));
    for (const { name, health, state } of await rules()) {
      expect({ name, health, state }).to.deep.equal({ name, health: 'ok', state: 'inactive' });
    }
  });

  it('answers every query of the dashboard with what the server did', async () => {
    await until(() => rows('verbatim_connections').length === 1);
    await post('/api/v1/transcribe');
    await speak();
    const { id } = await post('/api/v1/jobs');
    const headers = bearer(await served.key());
    await until(async () => {
      const response = await fetch(`${served.url}/api/v1/jobs/${id}`, { headers });
      return ((await response.json()) as { status: string }).status === 'succeeded';
    });
    await until(() => rows('rate(verbatim_jobs_ended_total{status="succeeded"}[1m])').length > 0);
    // No webhook was sent, the engine has not died, and no session was refused.
    const none = /webhook_attempts|engine_restarts|sessions_refused/;
    const queries = dashboardQueries().filter(({ expr }) => !none.test(expr));
    for (const { title, expr } of queries) {
      await until(() => rows(expr).length > 0, `${title}: ${expr}`);
    }
    expect(rows('rate(verbatim_audio_seconds_total[1m]) > 0')).to.have.length(1);
  });
});
