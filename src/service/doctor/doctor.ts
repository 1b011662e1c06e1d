/** All checks of a machine, in the order in which they are read. */
import { retiredVariables, type EnvironmentVariables } from '../variables.js';
import { readContext, type ServiceContext } from '../context.js';
import { hubEndpoint } from '../model-store.js';
import { ServerAtWork } from '../running-server.js';
import { checkDevice, checkFiles, checkChosenModel } from './choice.js';
import { advice, ok, problem, type Finding } from './finding.js';
import { thisMachine, type Machine } from './machine.js';
import { checkHub, checkPort } from './network.js';
import { checkCards, checkNode, checkProcessor, loadAddon } from './processor.js';
import { checkDirectories, checkFfmpeg } from './storage.js';

export interface DoctorOptions {
  machine: Machine;
  env: EnvironmentVariables;
  /** Throws an Error for the user where a setting or the manifest is wrong. */
  context: () => ServiceContext;
  /** The address of the model hub. */
  hub: string;
}

/** This machine, with the environment of this process. */
export function examineThisMachine(): Promise<Finding[]> {
  return examine({ machine: thisMachine(), env: process.env, context: readContext, hub: hubEndpoint() });
}

export async function examine({ machine, env, context, hub }: DoctorOptions): Promise<Finding[]> {
  const { addon, finding } = loadAddon(machine);
  const ofMachine = [checkNode(machine), checkProcessor(machine), finding, checkCards(machine, addon)];
  const found = settings(context, env);
  if (!('context' in found)) return [...ofMachine, found.finding];
  const { config } = found.context;
  const isServing = await ServerAtWork.find(config).then(
    () => true,
    () => false,
  );
  const model = checkChosenModel(machine, found.context);
  const needsHub = model.state !== 'ok' && config.model === null && config.autoModel !== false;
  return [
    ...ofMachine,
    found.finding,
    ...(addon === null ? [] : [checkDevice(found.context, addon)]),
    model,
    checkFiles(found.context),
    ...(await checkDirectories(machine, config)),
    await checkFfmpeg(machine, config),
    await checkPort(machine, config, isServing),
    ...(await checkHub(machine, hub, needsHub)),
  ];
}

type Settings = { finding: Finding; context: ServiceContext } | { finding: Finding };

function settings(read: () => ServiceContext, env: EnvironmentVariables): Settings {
  try {
    const context = read();
    const [retired] = retiredVariables(env);
    if (retired !== undefined) return { context, finding: advice('settings', retired, 'Remove the variable.') };
    const set = Object.keys(env).filter((name) => name.startsWith('VERBATIM_') && env[name] !== '');
    const found = set.length === 0 ? 'all as they are by default' : `set: ${set.sort().join(', ')}`;
    return { context, finding: ok('settings', found) };
  } catch (error) {
    return {
      finding: problem('settings', (error as Error).message, 'Correct it; docs/settings.md lists all settings.'),
    };
  }
}
