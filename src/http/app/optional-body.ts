/** The JSON body of a request that may come without one. */
import type { HttpDeps } from './deps.js';
import type { Exchange } from './exchange.js';
import { readJsonObject } from './request-body.js';

/** {} where there is none. */
export async function optionalJsonObject(
  exchange: Exchange,
  deps: Pick<HttpDeps, 'settings' | 'timers'>,
): Promise<Record<string, unknown>> {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = exchange.req.headers;
  return encoding === undefined && Number(length) === 0 ? {} : readJsonObject(exchange, deps);
}
