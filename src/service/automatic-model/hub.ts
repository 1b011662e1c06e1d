import { EnvHttpProxyAgent, fetch } from 'undici';

/** The time limit for a hub that accepts the connection but does not answer. */
const TIMEOUT_MS = 15_000;

/** The message is for an operator. */
export class HubUnreachable extends Error {}

/** Rejects with HubUnreachable if nothing answers at the address; any answer counts. Uses configured proxies. */
export async function reachHub(endpoint: string, signal: AbortSignal): Promise<void> {
  try {
    const response = await fetch(endpoint, {
      method: 'HEAD',
      dispatcher: new EnvHttpProxyAgent(),
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
  } catch (error) {
    signal.throwIfAborted();
    const cause = (error as Error).cause as Error | undefined;
    const why = cause?.message ?? (error as Error).message;
    throw new HubUnreachable(`The model hub ${endpoint} cannot be reached (${why})`, { cause: error });
  }
}
