/**
 * The control socket of a running server, for the command line. It is in the data directory, and only the server's user
 * and root may open it. Its name contains the server's port and the machine's name, because several servers and
 * machines may share the directory.
 */
import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from '../make-directory.js';
import { ModelRefused } from '../errors.js';
import { recordAction, type OperatorLog } from '../ledger/operators.js';
import type { AutomaticModelState } from '../models/automatic-model.js';
import type { ModelSwitch } from '../models/model-switch.js';

export interface Control {
  close(): Promise<void>;
}

/**
 * GET answers ModelState with `automatic`, an AutomaticModelState or null. POST {name} starts a change of the model and
 * answers the same. A refusal answers 409 {error}.
 */
export const CONTROL_MODEL = '/model';
const MOST_BYTES = 10_000;

export function controlPrefix(): string {
  return `control-${hostname().replace(/[^A-Za-z0-9]/g, '_')}-`;
}

export const CONTROL_SUFFIX = '.sock';

export interface ControlOptions {
  dataDir: string;
  /** The server's port. No other server of this machine has the same. */
  port: number;
  models: ModelSwitch;
  /** Records the actions of the command line. */
  operators: OperatorLog;
  automaticModel: () => AutomaticModelState | null;
}

/** Rejects if the socket cannot be created. */
export async function startControl(options: ControlOptions): Promise<Control> {
  const { dataDir, port } = options;
  const path = join(dataDir, `${controlPrefix()}${port}${CONTROL_SUFFIX}`);
  const server = createServer((req, res) => void answer(req, res, options));
  makeDirectory(dataDir);
  // Left by a server that was killed.
  await rm(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  await chmod(path, 0o600);
  return {
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  req: IncomingMessage,
  res: ServerResponse,
  { models, operators, automaticModel }: ControlOptions,
): Promise<void> {
  try {
    if (req.url !== CONTROL_MODEL) throw new ModelRefused(`There is nothing at ${req.url ?? '/'}.`);
    if (req.method === 'POST') {
      const name = await nameIn(req);
      await recordAction(operators, { operatorId: null, action: 'model-used', subject: name }, () => {
        models.use(name, 'the command line');
        return Promise.resolve();
      });
    }
    send(res, 200, { ...models.state(), automatic: automaticModel() });
  } catch (error) {
    const { message } = error as Error;
    send(res, error instanceof ModelRefused ? 409 : 500, { error: message });
  }
}

async function nameIn(req: IncomingMessage): Promise<string> {
  let body = '';
  for await (const piece of req) {
    body += String(piece);
    if (body.length > MOST_BYTES) throw new ModelRefused('The request is too long.');
  }
  const { name } = (JSON.parse(body) ?? {}) as { name?: unknown };
  if (typeof name !== 'string') throw new ModelRefused('The request names no model.');
  return name;
}

function send(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
