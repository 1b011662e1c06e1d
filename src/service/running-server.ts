/** Finds the running server of these settings on this machine and sends it commands; see startControl(). */
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ModelRefused } from '../errors.js';
import type { AutomaticModelState } from '../models/automatic-model.js';
import type { ModelState } from '../models/model-switch.js';
import type { Config } from './config.js';
import { CONTROL_MODEL, CONTROL_SUFFIX, controlPrefix } from './control.js';

/** The model state of a server, and the state of its search for a published model. null: there is no search. */
export interface ServerModels extends ModelState {
  automatic: AutomaticModelState | null;
}

export class ServerAtWork {
  private constructor(private readonly socket: string) {}

  /** Throws an Error that says what to do if no server answers, or if several do and none has the configured port. */
  static async find({ dataDir, port }: Pick<Config, 'dataDir' | 'port'>): Promise<ServerAtWork> {
    const found: { port: string; server: ServerAtWork }[] = [];
    for (const name of socketsIn(dataDir)) {
      const server = new ServerAtWork(join(dataDir, name));
      if (await server.#answers())
        found.push({ port: name.slice(controlPrefix().length, -CONTROL_SUFFIX.length), server });
    }
    const [first, ...others] = found;
    if (first === undefined) {
      throw new Error(
        `No server of the data directory "${dataDir}" answers on this machine. Run this as the server's user ` +
          'and with its VERBATIM_DATA_DIR. If the server is stopped, name the model in VERBATIM_MODEL.',
      );
    }
    const asked = others.length === 0 ? first : found.find((one) => one.port === String(port));
    if (asked !== undefined) return asked.server;
    const ports = found.map((one) => one.port).join(', ');
    throw new Error(`Servers on the ports ${ports} share the data directory "${dataDir}": name one in VERBATIM_PORT.`);
  }

  state(): Promise<ServerModels> {
    return this.#ask('GET');
  }

  /** Rejects with ModelRefused if the change cannot start. */
  use(name: string): Promise<ServerModels> {
    return this.#ask('POST', { name });
  }

  async #answers(): Promise<boolean> {
    try {
      await this.state();
      return true;
    } catch {
      return false;
    }
  }

  async #ask(method: 'GET' | 'POST', body?: object): Promise<ServerModels> {
    const { status, answer } = await new Promise<{ status: number | undefined; answer: string }>((resolve, reject) => {
      const asking = request({ socketPath: this.socket, path: CONTROL_MODEL, method }, (res) => {
        text(res).then((answer) => resolve({ status: res.statusCode, answer }), reject);
      });
      asking.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
    const value = JSON.parse(answer) as ServerModels & { error?: string };
    if (status === 200) return value;
    throw new ModelRefused(value.error ?? `The server answered ${status ?? 'nothing'}.`);
  }
}

function socketsIn(dataDir: string): string[] {
  try {
    return readdirSync(dataDir)
      .filter((name) => name.startsWith(controlPrefix()) && name.endsWith(CONTROL_SUFFIX))
      .sort();
  } catch {
    return [];
  }
}
