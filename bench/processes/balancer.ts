/** The shipped HAProxy before nodes of this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { stopProcess } from './server-under-test.js';
import { freePort } from './free-port.js';

export interface BalancedNode {
  port: number;
  agentPort: number;
}

export interface Balancer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const SHIPPED = join(packageRoot, 'packaging', 'haproxy', 'haproxy.cfg');

/** Rejects with an Error when the program cannot be started. */
export async function startBalancer(nodes: readonly BalancedNode[]): Promise<Balancer> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-haproxy-'));
  const file = join(directory, 'haproxy.cfg');
  const port = await freePort();
  writeFileSync(file, configuration(port, nodes));
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined) await stopProcess(child);
    rmSync(directory, { recursive: true });
  };
  try {
    await once(child, 'spawn');
  } catch (error) {
    await stop();
    throw new Error('HAProxy cannot be started; Debian has it as "haproxy".', { cause: error });
  }
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop };
}

/** As shipped, but for addresses, and with as many nodes as there are. */
function configuration(port: number, nodes: readonly BalancedNode[]): string {
  const servers = nodes.map(
    ({ port: own, agentPort }, index) => `    server node${index + 1} 127.0.0.1:${own} agent-port ${agentPort}`,
  );
  const backups = nodes.map(
    ({ port: own }, index) => `    server node${index + 1}-full 127.0.0.1:${own} backup no-agent-check`,
  );
  const shipped = readFileSync(SHIPPED, 'utf8').replace('bind :80', `bind 127.0.0.1:${port}`);
  const lines = shipped.split('\n').filter((line) => !line.startsWith('    server node'));
  return [...lines, ...servers, ...backups, ''].join('\n');
}
