/** The configured device -> the ids of the devices to load the model on. Never a silent fall back. */
import { SetupError } from '../errors.js';
import type { NativeBinding } from './binding.js';

type Devices = Pick<NativeBinding, 'build' | 'devices'>;

/**
 * `auto`: the first CUDA device if there is one, else the CPU; `cuda`: the first CUDA device; `cuda:0,1`: these. Throws
 * a SetupError that names the setting, the devices of this build and the devices of this machine.
 */
export function resolveDevices(setting: string, binding: Devices): string[] {
  const there = binding.devices().map((device) => device.id);
  const cuda = there.filter((id) => id.startsWith('cuda:'));
  if (setting === 'auto') return [cuda[0] ?? 'cpu'];
  const wanted = setting === 'cuda' ? ['cuda:0'] : listed(setting);
  const missing = wanted.filter((id) => !there.includes(id));
  if (missing.length === 0) return wanted;
  const reason = binding.build.cuda
    ? `there is ${there.join(', ')}`
    : 'this build has no CUDA (build it with VERBATIM_CUDA=ON where nvcc and cuBLAS are installed)';
  throw new SetupError(`Device "${setting}" is not available (${missing.join(', ')}): ${reason}.`);
}

/**
 * A setting for each of several devices that this one names: 'cuda:0,1' -> 'cuda:0', 'cuda:1'; one that names one stays
 * as it is.
 */
export function eachDevice(setting: string): string[] {
  return listed(setting);
}

function listed(setting: string): string[] {
  const numbers = /^cuda:(\d+(?:,\d+)*)$/.exec(setting)?.[1];
  if (numbers === undefined) return [setting];
  return [...new Set(numbers.split(',').map((number) => `cuda:${Number(number)}`))];
}
