/** The alerts, held to promtool; and that the alerts and the dashboard ask for nothing that /metrics does not have. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alertNames, alertQueries, dashboardQueries, metricsNamed, promtool, RULES } from '../support/monitoring.js';
import { TestServer } from '../support/server.js';

/**
 * Series, and its values over an hour, a minute each: of a server that is to be complained of, and of one just within
 * bounds.
 */
const SERIES: readonly [series: string, bad: string, good: string][] = [
  ['up{job="verbatim"', '1 0x60', '1x60'],
  ['verbatim_http_requests_total{status="500"', '0+2x60', '0+1x60'],
  ['verbatim_http_requests_total{status="503"', '0+1x60', '5x60'],
  ['verbatim_http_requests_total{status="200"', '0+97x60', '0+99x60'],
  ['verbatim_webhooks_waiting{', Array(61).fill('NaN').join(' '), '0x60'],
  ['verbatim_backlog_seconds{', '3400+2x60', '3200-2x60'],
  ['verbatim_backlog_limit_seconds{', '4000x60', '4000x60'],
  ['verbatim_slots{', '2x60', '2x60'],
  ['verbatim_slots_busy{', '2x60', '2x60'],
  ['verbatim_real_time_factor{', '1.1x60', '1.1x60'],
  ['verbatim_queue_wait_seconds_bucket{le="60"', '0+90x60', '0+96x60'],
  ['verbatim_queue_wait_seconds_bucket{le="300"', '0+100x60', '0+100x60'],
  ['verbatim_queue_wait_seconds_bucket{le="+Inf"', '0+100x60', '0+100x60'],
  ['verbatim_shell_answer_seconds_bucket{le="0.25"', '0+98x60', '0+100x60'],
  ['verbatim_shell_answer_seconds_bucket{le="0.5"', '0+100x60', '0+100x60'],
  ['verbatim_shell_answer_seconds_bucket{le="+Inf"', '0+100x60', '0+100x60'],
  ['verbatim_live_final_lag_seconds_bucket{le="1"', '0+94x60', '0+96x60'],
  ['verbatim_live_final_lag_seconds_bucket{le="2"', '0+100x60', '0+100x60'],
  ['verbatim_live_final_lag_seconds_bucket{le="+Inf"', '0+100x60', '0+100x60'],
  ['verbatim_live_sessions_refused_total{reason="overloaded"', '0+1x60', '5x60'],
  ['verbatim_live_sessions_refused_total{reason="rate_limited"', '0+1x60', '0+1x60'],
  ['verbatim_engine_restarts_total{reason="SIGSEGV"', '0+1x60', '0x50 1x9'],
  ['verbatim_speaker_process_deaths_total{', '0+1x60', '0x50 1x9'],
  ['verbatim_jobs_ended_total{status="failed"', '0+6x60', '0+4x60'],
  ['verbatim_jobs_ended_total{status="succeeded"', '0+4x60', '0+6x60'],
  ['verbatim_webhook_attempts_total{outcome="failed"', '0+6x60', '0+4x60'],
  ['verbatim_webhook_attempts_total{outcome="delivered"', '0+4x60', '0+6x60'],
  ['verbatim_connections_refused_total{', '0+70x60', '0+50x60'],
  ['process_open_fds{job="verbatim"', '900x60', '700x60'],
  ['process_max_fds{job="verbatim"', '1000x60', '1000x60'],
];

function inputSeries(): { series: string; values: string }[] {
  return SERIES.flatMap(([head, bad, good]) =>
    Object.entries({ bad, good }).map(([instance, values]) => ({
      series: `${head}${head.endsWith('{') ? '' : ', '}instance="${instance}"}`,
      values,
    })),
  );
}

describe('alerts and dashboard', () => {
  let directory: string;
  let server: TestServer;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-alerts-'));
    server = await TestServer.start();
  });
  after(async () => {
    await server.dispose();
    rmSync(directory, { recursive: true });
  });

  /** promtool reads YAML, of which JSON is a part. */
  function firing(samples: readonly object[]): { status: number | null; output: string } {
    const file = join(directory, 'test.json');
    const test = {
      interval: '1m',
      input_series: inputSeries(),
      promql_expr_test: [
        {
          expr: 'count by (alertname, instance) (ALERTS{alertstate="firing"})',
          eval_time: '58m',
          exp_samples: samples,
        },
      ],
    };
    writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests: [test] }));
    return promtool('test', 'rules', file);
  }

  it('the rules are what promtool takes for rules', () => {
    const { status, output } = promtool('check', 'rules', '--lint-fatal', RULES);
    expect(status, output).to.equal(0);
  });

  it('every alert fires for a server that it is meant for, and none for one just within bounds', () => {
    const expected = alertNames().map((name) => ({
      labels: `{alertname="${name}", instance="bad"}`,
      value: 1,
    }));
    expect(expected).to.have.length.above(10);
    const { status, output } = firing(expected);
    expect(status, output).to.equal(0);
    expect(firing(expected.slice(1)).status).not.to.equal(0);
  });

  it('every metric that an alert or a panel names is one of /metrics', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const there = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    const named = metricsNamed([alertQueries(), ...dashboardQueries().map(({ expr }) => expr)].join('\n'));
    expect(named).to.include('verbatim_backlog_seconds').and.have.length.above(20);
    expect(named.filter((name) => !there.has(name))).to.deep.equal([]);
  });
});
