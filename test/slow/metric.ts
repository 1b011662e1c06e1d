import { request } from 'undici';

/** Node's histogram of event-loop delays holds the whole period of the timer it measures with. */
const LOOP_TIMER_MS = 10;

/** Of a server's metrics, the first of that name. Throws where there is none. */
export async function readMetric(url: string, name: string): Promise<number> {
  const response = await request(`${url}/metrics`);
  const value = new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'm').exec(await response.body.text())?.[1];
  if (value === undefined) throw new Error(`There is no metric ${name}.`);
  return Number(value);
}

/** How late a server's event loop was, at p99, since this was asked last. */
export async function loopLateMs(url: string): Promise<number> {
  return Math.max(0, 1000 * (await readMetric(url, 'nodejs_eventloop_lag_p99_seconds')) - LOOP_TIMER_MS);
}
