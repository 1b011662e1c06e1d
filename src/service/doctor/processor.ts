/** Node.js, the processor and its instructions, and the addon that was built for them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../package-root.js';
import type { NativeBinding } from '../../engine/binding.js';
import { describeCard } from '../../engine/devices.js';
import { advice, ok, problem, type Finding } from './finding.js';
import type { Machine } from './machine.js';

/** Flags in /proc/cpuinfo that the engine has products for, the fastest first, and what they compute. */
const INSTRUCTIONS: readonly (readonly [flag: string, name: string])[] = [
  ['amx_bf16', 'AMX (bfloat16)'],
  ['avx512_bf16', 'AVX-512 BF16 (bfloat16)'],
  ['avx512_vnni', 'AVX-512 VNNI (int8)'],
  ['avx_vnni', 'AVX-VNNI (int8)'],
  ['avx2', 'AVX2 (float32, int8)'],
  ['i8mm', 'ARM i8mm (int8)'],
  ['asimddp', 'ARM dot product (int8)'],
  ['asimd', 'ARM NEON (float32)'],
];

type Addon = Pick<NativeBinding, 'build' | 'devices'>;

export function checkNode({ nodeVersion }: Machine): Finding {
  const { engines } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const least = engines.node.replace('>=', '');
  const found = `Node.js ${nodeVersion}`;
  if (compareVersions(nodeVersion, least) >= 0) return ok('Node.js', found);
  return problem('Node.js', found, `Install Node.js ${least} or newer, and run ./setup again.`);
}

function compareVersions(one: string, other: string): number {
  const others = other.split('.').map(Number);
  const differences = one.split('.').map((part, index) => Number(part) - (others[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

export function checkProcessor({ read, cores }: Machine): Finding {
  const cpu = read('/proc/cpuinfo') ?? '';
  const name = /^(?:model name|Model)\s*:\s*(.+)$/m.exec(cpu)?.[1] ?? 'an unknown processor';
  const flags = new Set((/^(?:flags|Features)\s*:\s*(.+)$/m.exec(cpu)?.[1] ?? '').split(' '));
  const known = INSTRUCTIONS.filter(([flag]) => flags.has(flag)).map(([, text]) => text);
  const found = `${name}, ${cores} ${cores === 1 ? 'core' : 'cores'} for this process`;
  if (known.length > 0) return ok('processor', `${found}; ${known.join(', ')}`);
  return advice(
    'processor',
    `${found}; none of the instructions that make it fast`,
    "Transcription works and is slow. A virtual machine may hide AVX2: give it the host's processor type.",
  );
}

/** null: the addon cannot be loaded, which the finding says. */
export function loadAddon(machine: Machine): { addon: Addon | null; finding: Finding } {
  let addon: Addon;
  try {
    addon = machine.addon();
  } catch (error) {
    return { addon: null, finding: problem('addon', (error as Error).message, 'Run ./setup in the source directory.') };
  }
  const { withoutAccelerator, whisper, compiler } = addon.build;
  const found = `whisper.cpp ${whisper}, ${compiler}`;
  const finding =
    withoutAccelerator === undefined
      ? ok('addon', `${found}, with the accelerator`)
      : advice('addon', `${found}, without the accelerator: ${withoutAccelerator}`, 'Run ./setup, which builds it in.');
  return { addon, finding };
}

/** Makers of graphics cards, by the PCI vendor in /sys/class/drm/card<n>/device/vendor. */
const VENDORS: Readonly<Record<string, string>> = { '0x10de': 'NVIDIA', '0x1002': 'AMD', '0x8086': 'Intel' };

export function checkCards({ read, list }: Machine, addon: Addon | null): Finding {
  const vendors = list('/sys/class/drm')
    .filter((name) => /^card\d+$/.test(name))
    .map((name) => VENDORS[read(`/sys/class/drm/${name}/device/vendor`)?.trim() ?? ''])
    .filter((vendor) => vendor !== undefined);
  const driver = /Kernel Module\s+(\S+)/.exec(read('/proc/driver/nvidia/version') ?? '')?.[1];
  if (driver !== undefined && !vendors.includes('NVIDIA')) vendors.push('NVIDIA');
  const used = addon?.devices().filter(({ id }) => id !== 'cpu') ?? [];
  if (used.length > 0) {
    const named = used.map((device) => `${device.id} ${describeCard(device)}`);
    return ok('graphics cards', `${named.join('; ')}${driver === undefined ? '' : `; NVIDIA's driver ${driver}`}`);
  }
  if (vendors.length === 0) return ok('graphics cards', 'none; the processor does the work');
  const found = `${vendors.join(', ')}${driver === undefined ? '' : `, driver ${driver}`}; not used`;
  if (!vendors.includes('NVIDIA')) return checkVulkan(found, addon);
  if (driver === undefined) return advice('graphics cards', found, "Install NVIDIA's driver.");
  if (addon?.build.cuda === true)
    return problem(
      'graphics cards',
      found,
      "The build has CUDA and finds no card: compare the driver and CUDA's version.",
    );
  return advice('graphics cards', found, 'Install CUDA with cuBLAS, and build with VERBATIM_CUDA=ON ./setup.');
}

/** Cards that CUDA does not know, and no Vulkan device is there. */
function checkVulkan(found: string, addon: Addon | null): Finding {
  if (addon?.build.vulkan !== true) {
    return ok('graphics cards', `${found}: a build with VERBATIM_VULKAN=ON computes on cards that are not NVIDIA's`);
  }
  return advice('graphics cards', found, "Install the card's Vulkan driver (Debian: mesa-vulkan-drivers).");
}

export function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
