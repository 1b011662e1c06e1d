/**
 * A process that has one of several CUDA devices to itself. CUDA_VISIBLE_DEVICES hides the others. Naming the device by
 * its number would not do: a process takes some hundred MiB of each device that it sees, and can fail when any of them
 * has failed.
 */
import type { NativeBinding } from './binding.js';

const VISIBLE = 'CUDA_VISIBLE_DEVICES';

/** The name of the one visible device. */
const SEEN = 'cuda:0';

type EnvironmentOfProcess = Readonly<Record<string, string>>;

/**
 * What is added to the environment of a process for `id`. `given`: this process's environment, which may show some
 * devices only.
 */
export function seeingOnly(id: string, given: Readonly<Record<string, string | undefined>>): EnvironmentOfProcess {
  const number = /^cuda:(\d+)$/.exec(id)?.[1];
  if (number === undefined) return {};
  const visible = given[VISIBLE];
  if (visible === undefined) return { [VISIBLE]: number };
  // None where there are not as many.
  return { [VISIBLE]: visible.split(',')[Number(number)]?.trim() ?? '' };
}

/** CUDA counts visible devices from 0. Here the one device has its own name, among those of the machine. */
export function onlyDevice<B extends NativeBinding>(binding: B, id: string): B {
  if (!id.startsWith('cuda:')) return binding;
  const named = <T extends { device: string }>(options: T): T =>
    options.device === id ? { ...options, device: SEEN } : options;
  const seen = <T extends { readonly info: { device: string } }>(model: T): T => {
    const { info } = model;
    const infoOfDevice = info.device === SEEN ? { ...info, device: id } : info;
    return Object.defineProperty(model, 'info', { value: infoOfDevice, configurable: true });
  };
  const own: Pick<NativeBinding, 'devices' | 'loadSpeechModel' | 'loadRecogniser' | 'loadTranslationModel'> = {
    devices: () =>
      binding.devices().flatMap((device) => {
        if (device.id === SEEN) return [{ ...device, id }];
        return device.id.startsWith('cuda:') ? [] : [device];
      }),
    loadSpeechModel: async (path, options) => seen(await binding.loadSpeechModel(path, named(options))),
    loadRecogniser: async (path, options) => seen(await binding.loadRecogniser(path, named(options))),
    loadTranslationModel: async (path, options) => seen(await binding.loadTranslationModel(path, named(options))),
  };
  return Object.assign(Object.create(binding) as B, own);
}
