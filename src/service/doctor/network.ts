/** The address of the service, the model hub, and the clock. */
import type { Config } from '../config.js';
import { advice, ok, problem, type Finding } from './finding.js';
import type { Machine } from './machine.js';

/** Certificates and signed webhooks are refused by clocks that differ by minutes. */
const MOST_CLOCK_DIFFERENCE_MS = 60_000;

/** `isServing`: whether a server of these settings runs on this machine. */
export async function checkPort(machine: Machine, config: Config, isServing: boolean): Promise<Finding> {
  const { host, port } = config;
  const where = `${host}, port ${port}`;
  if (isServing) return ok('address', `${where}: a server of these settings runs`);
  const can = await machine.canListen(host, port);
  if (can === true) return ok('address', `${where}: free`);
  if (can === 'EADDRINUSE')
    return problem('address', `${where}: another program listens there`, 'Stop it, or set VERBATIM_PORT.');
  if (can === 'EACCES')
    return problem('address', `${where}: this user may not listen there`, 'Set VERBATIM_PORT to 1024 or more.');
  return problem('address', `${where}: ${can}`, 'Set VERBATIM_HOST to an address of this machine, or to 0.0.0.0.');
}

/** `needsHub`: whether the service looks for a published model there by itself. */
export async function checkHub(machine: Machine, hub: string, needsHub: boolean): Promise<Finding[]> {
  let time: Date | null;
  try {
    time = await machine.timeOf(hub);
  } catch (error) {
    const why = ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message;
    const found = `${hub} cannot be reached (${why})`;
    if (!needsHub) return [ok('model hub', `${found}; nothing needs it`)];
    const remedy = 'Set HTTPS_PROXY, or HF_ENDPOINT for a mirror, or copy models into the models directory.';
    return [advice('model hub', found, remedy)];
  }
  const reached = ok('model hub', `${hub} answers`);
  return time === null ? [reached] : [reached, checkClock(machine, time)];
}

function checkClock({ now }: Machine, time: Date): Finding {
  const difference = now() - time.getTime();
  const seconds = Math.round(Math.abs(difference) / 1000);
  if (Math.abs(difference) <= MOST_CLOCK_DIFFERENCE_MS) return ok('clock', `within a minute of the model hub's`);
  const found = `${seconds} s ${difference > 0 ? 'ahead of' : 'behind'} the model hub's`;
  return problem('clock', found, 'Set the time: systemd-timesyncd or chrony keeps it right.');
}
