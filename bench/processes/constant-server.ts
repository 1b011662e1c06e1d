/** An Express route that answers a constant, in a process of its own: what no service on Express can be faster than. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { loaderOf } from './command-line.js';
import { stopProcess } from './server-under-test.js';

/** What /me answers, as a constant. */
const CONSTANT = {
  user: { id: 'acc_Zk3v9Q0c7TfYb1Rn', email: 'ada@example.org', name: 'Ada' },
  key: { id: 'key_x1ZtJ0m4k9Qe2Lw7', name: 'laptop', prefix: 'vb_3q2-7wAb' },
  credits: { balance: 497, lifetime_purchased: 500 },
};

export interface ConstantServer {
  /** Without a path, which may be any. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Rejects with an Error when it does not start. */
export async function startConstantServer(): Promise<ConstantServer> {
  const child = fork(__filename, [], { execArgv: loaderOf(__filename) });
  const url = await readyUrl(child);
  return { url, pid: child.pid ?? 0, stop: () => stopProcess(child) };
}

async function readyUrl(child: ChildProcess): Promise<string> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('The constant server ended.')));
  ended.catch(() => undefined);
  const [url] = (await Promise.race([once(child, 'message'), ended])) as [string];
  return url;
}

async function serveConstant(): Promise<void> {
  const app = express();
  app.use((_req, res) => void res.json(CONSTANT));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  process.once('disconnect', () => process.exit(0));
}

if (require.main === module) void serveConstant();
