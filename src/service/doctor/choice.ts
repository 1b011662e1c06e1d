/** What the service will use on this machine, and why. */
import { existsSync, statSync } from 'node:fs';
import type { NativeBinding } from '../../engine/binding.js';
import { resolveDevices } from '../../engine/devices.js';
import { knownModelForMachine } from '../automatic-model/model-for-machine.js';
import { readChosenModel } from '../chosen-model.js';
import type { ServiceContext } from '../context.js';
import { bytesFor } from '../model-memory.js';
import { slotsOn } from '../slots.js';
import { configuredModel } from '../speech-engine.js';
import { speechDecoder } from '../speech-decoder.js';
import { modelPath } from '../../models/store.js';
import { INSTALL_COMMAND } from '../../transcription/warnings.js';
import { advice, ok, problem, type Finding } from './finding.js';
import type { Machine } from './machine.js';
import { gibibytes } from './processor.js';

type Addon = Pick<NativeBinding, 'build' | 'devices'>;

/** The device, and how windows are decoded there. */
export function checkDevice({ config }: ServiceContext, addon: Addon): Finding {
  try {
    const devices = resolveDevices(config.deviceSetting, addon);
    const { kind } = speechDecoder(config, devices);
    const why = `VERBATIM_DEVICE is "${config.deviceSetting}"`;
    const work = kind === 'batched' ? 'windows of all requests are decoded together' : 'whisper.cpp decodes';
    return ok('device', `${devices.join(', ')} (${why}); ${work}, ${slotsOn(devices, config)} at a time compute`);
  } catch (error) {
    return problem(
      'device',
      (error as Error).message,
      'Set VERBATIM_DEVICE to auto or cpu, or mend the setting named.',
    );
  }
}

export function checkChosenModel(machine: Machine, given: ServiceContext): Finding {
  try {
    const { config, roots, manifest } = given;
    const chosen = config.model === null ? readChosenModel(config.dataDir) : null;
    const { entry, path } = configuredModel(chosen === null ? config : { ...config, model: chosen }, roots, manifest);
    const why =
      config.model !== null ? 'VERBATIM_MODEL' : chosen !== null ? 'by "models use"' : 'nothing else was chosen';
    const found = `${entry.name} (${why})`;
    const needed = bytesFor(statSync(path).size);
    const free = machine.freeMemory();
    if (free !== null && needed > free) {
      const memory = `needs up to ${gibibytes(needed)} of memory, ${gibibytes(free)} are free`;
      return problem(
        'model',
        `${found} ${memory}`,
        'Stop other programs, or choose a smaller model by VERBATIM_MODEL.',
      );
    }
    const room = free === null ? '' : `; needs up to ${gibibytes(needed)} of ${gibibytes(free)} free memory`;
    if (entry.demonstration !== true) return ok('model', `${found}${room}`);
    return advice('model', `${found}${room}. It knows only its own clips`, betterModel(given));
  } catch (error) {
    return problem(
      'model',
      (error as Error).message,
      'Name an installed model in VERBATIM_MODEL, or install this one.',
    );
  }
}

function betterModel(context: ServiceContext): string {
  const best = bestKnown(context);
  if (best === null) return `Download a published model that this machine is fast enough for: ${INSTALL_COMMAND}`;
  return `This machine carries ${best}. Download it: ${INSTALL_COMMAND}`;
}

/** null: the machine was not measured, or can run none. */
function bestKnown(context: ServiceContext): string | null {
  try {
    return knownModelForMachine(context)?.name ?? null;
  } catch {
    return null;
  }
}

/** Installed models whose files have not the size that the manifest gives. */
export function checkFiles({ roots, manifest }: ServiceContext): Finding {
  const broken = manifest.models.filter((entry) => {
    if (entry.kind === 'translation') return false;
    const path = modelPath(roots, entry);
    return entry.size !== undefined && existsSync(path) && statSync(path).size !== entry.size;
  });
  if (broken.length === 0) return ok('model files', 'the sizes of all installed files are right');
  const names = broken.map(({ name }) => name).join(', ');
  return problem('model files', `wrong size: ${names}`, 'Delete the files, and download the models again.');
}
