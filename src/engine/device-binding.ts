/**
 * The addon for a device. A build has one, with everything that was found when it was built. The Debian package has
 * two: one without Vulkan, which every machine can load, and one with it, which needs Vulkan's loader.
 */
import { SetupError } from '../errors.js';
import { hasVulkanAddon, loadBinding, loadVulkanBinding, type NativeAddon } from './binding.js';
import { backendOf, resolveDevices } from './devices.js';

/** Loads the addons that are installed. */
export interface Addons {
  plain: () => NativeAddon;
  /** null: there is one addon only. */
  vulkan: (() => NativeAddon) | null;
}

function installedAddons(): Addons {
  return { plain: () => loadBinding(), vulkan: hasVulkanAddon() ? () => loadVulkanBinding() : null };
}

/** `setting`: a value of VERBATIM_DEVICE, or a device's id. Throws a SetupError where Vulkan's loader is missing. */
export function loadBindingFor(setting: string, { plain, vulkan }: Addons = installedAddons()): NativeAddon {
  if (vulkan === null) return plain();
  if (backendOf(setting) === 'vulkan') return withLoader(vulkan);
  const addon = plain();
  if (setting !== 'auto' || resolveDevices('auto', addon)[0] !== 'cpu') return addon;
  const other = withoutLoader(vulkan);
  return other !== null && resolveDevices('auto', other)[0] !== 'cpu' ? other : addon;
}

/** The addon that lists most devices, for diagnostics. */
export function loadBindingOfAllDevices({ plain, vulkan }: Addons = installedAddons()): NativeAddon {
  return (vulkan === null ? null : withoutLoader(vulkan)) ?? plain();
}

function withLoader(load: () => NativeAddon): NativeAddon {
  const addon = withoutLoader(load);
  if (addon !== null) return addon;
  throw new SetupError("Vulkan's loader, libvulkan.so.1, is missing: install libvulkan1 and the card's Vulkan driver.");
}

/** null: Vulkan's loader is missing. */
function withoutLoader(load: () => NativeAddon): NativeAddon | null {
  try {
    return load();
  } catch (error) {
    if (error instanceof Error && error.message.includes('libvulkan.so')) return null;
    throw error;
  }
}
