/** The port for Wyoming's clients, such as Home Assistant. It has no authentication: it serves one account. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { VerbatimError } from '../../errors.js';
import type { Identity } from '../../ledger/types.js';
import { requestError } from '../../transcription/request-errors.js';
import type { HttpDeps } from '../app/deps.js';
import { keyIdentity } from '../auth/auth.js';
import { tooManyFromAddress } from '../limits/address-limit.js';
import { WyomingConnection } from './connection.js';
import { frameBytes } from './frames.js';

export interface WyomingOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  /** Of the account that pays. */
  key: string;
}

export interface WyomingServer {
  readonly port: number;
  /** Cuts the connections that are still open. */
  close(): Promise<void>;
}

type Deps = Pick<
  HttpDeps,
  'version' | 'live' | 'speechModels' | 'timers' | 'logger' | 'ledger' | 'addresses' | 'inFlight'
>;

const MOST_SOCKETS = 256;

/** Rejects with `invalid_api_key` or `account_suspended`, or with what listening fails with. */
export async function startWyoming({ host, port, key }: WyomingOptions, deps: Deps): Promise<WyomingServer> {
  const identity = (): Promise<Identity> => keyIdentity(deps, key);
  await identity();
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
    const refusal = refusalOf(socket, deps);
    if (refusal === null) void new WyomingConnection(socket, { ...deps, identity }).run();
    else refuse(socket, refusal);
  });
  server.maxConnections = MOST_SOCKETS;
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** null: the connection is taken, and counts until it is closed. */
function refusalOf(socket: Socket, { addresses, inFlight }: Deps): VerbatimError | null {
  try {
    inFlight.assertOpen();
  } catch (error) {
    return requestError(error);
  }
  const release = addresses.take(socket.remoteAddress ?? '');
  if (release === null) return tooManyFromAddress(addresses.maximum);
  socket.once('close', release);
  return null;
}

function refuse(socket: Socket, { code, message }: VerbatimError): void {
  socket.end(frameBytes('error', { text: message, code }), () => socket.destroy());
}
