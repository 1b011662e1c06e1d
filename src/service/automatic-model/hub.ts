import { EnvHttpProxyAgent, fetch } from 'undici';

/** Of a hub that takes the connection and does not answer. */
const TIMEOUT_MS = 15_000;

/** Rejects with an Error for an operator where nothing answers there; any answer counts. Proxies are respected. */
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
    throw new Error(`The model hub ${endpoint} cannot be reached (${cause?.message ?? (error as Error).message})`, {
      cause: error,
    });
  }
}
