/** The configured device -> the ids of the devices to load the model on. Never a silent fall back. */
import { SetupError } from '../errors.js';
import type { DeviceInfo, NativeBinding } from './binding.js';

type Devices = Pick<NativeBinding, 'build' | 'devices'>;

type Backend = 'cuda' | 'vulkan';

/** Every spelling of VERBATIM_DEVICE. */
export const DEVICE_SETTING = /^(auto|cpu|cuda(:\d+(,\d+)*)?|vulkan(:(\d+(,\d+)*|software))?)$/;

const HOW_TO_BUILD: Readonly<Record<Backend, string>> = {
  cuda: 'this build has no CUDA (build it with VERBATIM_CUDA=ON where nvcc and cuBLAS are installed)',
  vulkan:
    'this build has no Vulkan (build it with VERBATIM_VULKAN=ON where glslc, libvulkan-dev and spirv-headers are ' +
    'installed)',
};

/**
 * `auto`: the first CUDA device, else the first discrete card that Vulkan has, else the CPU; `cuda` and `vulkan`: the
 * first of their devices, but no software device; `cuda:0,1`, `vulkan:0,1`: these. Throws a SetupError that names the
 * setting, the devices of this build and the devices of this machine.
 */
export function resolveDevices(setting: string, binding: Devices): string[] {
  const there = binding.devices();
  if (setting === 'auto') return [automatic(there)];
  const wanted = setting === 'cuda' || setting === 'vulkan' ? [`${setting}:0`] : eachDevice(setting);
  const missing = wanted.filter((id) => !there.some((device) => device.id === id));
  if (missing.length === 0) return wanted;
  const backend = backendOf(setting);
  const reason =
    backend === null || binding.build[backend]
      ? `there is ${there.map(({ id }) => id).join(', ')}`
      : HOW_TO_BUILD[backend];
  throw new SetupError(`Device "${setting}" is not available (${missing.join(', ')}): ${reason}.`);
}

/** Graphics that share the processor's memory, and software devices, are used by name only. */
function automatic(there: readonly DeviceInfo[]): string {
  const first = (backend: Backend): string | undefined =>
    there.find(({ id, type }) => backendOf(id) === backend && (backend === 'cuda' || type === 'discrete'))?.id;
  return first('cuda') ?? first('vulkan') ?? 'cpu';
}

/** Of a device's id or a setting; null: the processor. */
export function backendOf(device: string): Backend | null {
  const [name] = device.split(':');
  return name === 'cuda' || name === 'vulkan' ? name : null;
}

/** Name, memory and driver of a graphics card, in one line. */
export function describeCard({ name, type, driver, memoryBytes }: Omit<DeviceInfo, 'id'>): string {
  const memory = `${(memoryBytes / 2 ** 30).toFixed(1)} GiB`;
  const details = [type === 'discrete' ? '' : type, memory, driver ?? ''].filter((detail) => detail !== '');
  return `${name} (${details.join(', ')})`;
}

/**
 * A setting for each of several devices that this one names: 'cuda:0,1' -> 'cuda:0', 'cuda:1'; one that names one stays
 * as it is.
 */
export function eachDevice(setting: string): string[] {
  const [, backend, numbers] = /^(cuda|vulkan):(\d+(?:,\d+)*)$/.exec(setting) ?? [];
  if (numbers === undefined) return [setting];
  return [...new Set(numbers.split(',').map((number) => `${backend}:${Number(number)}`))];
}
