/**
 * `attack.ts URL ATTACK KEY...`: prints how many connections were admitted and refused, and attacks until it is
 * killed.
 */
import { setMaxListeners } from 'node:events';
import { bearer } from '../../support/server.js';
import { SocketClient } from '../../support/socket-client.js';
import { ATTACKS } from './attacks.js';

const PATH = '/v1/realtime?intent=transcription';
const [url = '', index = '', ...keys] = process.argv.slice(2);

async function main(): Promise<void> {
  const attack = ATTACKS[Number(index)];
  if (attack === undefined) throw new Error(`There is no attack ${index}.`);
  const clients: SocketClient[] = [];
  let refused = 0;
  for (let connection = 0; connection < attack.connections; connection++) {
    const headers = bearer(keys[connection % keys.length] ?? '');
    try {
      clients.push(await SocketClient.connect(url + PATH, [], { headers }));
    } catch {
      refused += 1;
    }
  }
  process.stdout.write(`${clients.length} ${refused}\n`);
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  await Promise.all(clients.map((client) => attack.attack(client, signal)));
}

void main();
