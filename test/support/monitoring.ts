/** What packaging/ asks of Prometheus: the queries of its alerts and of its dashboard. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';

export const RULES = join(packageRoot, 'packaging', 'prometheus', 'verbatim.rules.yml');
const DASHBOARD = join(packageRoot, 'packaging', 'grafana', 'verbatim.json');

interface Panel {
  title: string;
  targets: { expr: string }[];
}

export interface DashboardQuery {
  title: string;
  /** With the dashboard's variables as it has them at first. */
  expr: string;
}

export function dashboardQueries(): DashboardQuery[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: Panel[] };
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({
      title,
      expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'),
    })),
  );
}

export function alertNames(): string[] {
  return [...readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
}

/** Of the rules, comments and annotations left out. */
export function alertQueries(): string {
  const lines = readFileSync(RULES, 'utf8').split('\n');
  return lines.filter((line) => !/^\s*(#|summary:)/.test(line)).join('\n');
}

/** Names of metrics in a query, as /metrics has them: a histogram's by its own name. */
export function metricsNamed(query: string): string[] {
  const names = query.match(/\b(verbatim|process|nodejs)_[a-z_]+/g) ?? [];
  return [...new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, '')))];
}

export function promtool(...words: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr, error } = spawnSync('promtool', words, { encoding: 'utf8' });
  if (error) throw new Error('promtool does not start; "./setup tests" installs it.', { cause: error });
  return { status, output: stdout + stderr };
}
