/**
 * Chooses the speech decoder of the serving devices by VERBATIM_SPEECH_DECODER, VERBATIM_COMPUTE and VERBATIM_BATCH.
 */
import { backendOf } from '../engine/devices.js';
import type { SpeechDecoder } from '../engine/speech/speech-models.js';
import type { SpeechModelEntry } from '../models/manifest.js';
import type { Config } from './config.js';
import { ConfigError } from './variables.js';

/**
 * The decoder for 'auto' on a CPU. On CUDA it is whisper.cpp until a measurement shows that the batched decoder is
 * faster.
 */
export const AUTO_ON_CPU: SpeechDecoder['kind'] = 'batched';

/** The batched decoder's tests run on a software device of Vulkan. */
export const AUTO_ON_VULKAN: SpeechDecoder['kind'] = 'batched';

/**
 * Windows in flight. A step costs little more for eight rows than for one. A window takes 10 to 25 MiB with the base
 * model.
 */
export const DEFAULT_BATCH = 8;

type Settings = Pick<Config, 'speechDecoder' | 'compute' | 'batch'> & Partial<Pick<Config, 'accelerator'>>;
type Model = Pick<SpeechModelEntry, 'name' | 'decoder'>;

/**
 * `devices`: ids from resolveDevices(). `model`: absent means a model that either decoder supports. Throws ConfigError
 * if settings conflict.
 */
export function speechDecoder(settings: Settings, devices: readonly string[], model?: Model): SpeechDecoder {
  const kind = decoderKind(settings, devices, model);
  const { compute, batch } = settings;
  if (kind === 'batched') return { kind, compute, windowsInFlight: batch ?? DEFAULT_BATCH };
  const reason = 'since the speech decoder is whisper.cpp';
  if (batch !== null) throw new ConfigError('VERBATIM_BATCH', String(batch), `nothing, ${reason}`);
  if (compute === 'auto') return { kind };
  // A model of another family than Whisper, which this engine computes itself on a CPU.
  const isOwn = model?.decoder !== undefined && settings.accelerator !== 'off' && isOnCpu(devices);
  if (!isOwn) throw new ConfigError('VERBATIM_COMPUTE', compute, `auto, ${reason}`);
  return { kind, compute };
}

function isOnCpu(devices: readonly string[]): boolean {
  return devices.every((device) => device === 'cpu');
}

function automaticKind(devices: readonly string[]): SpeechDecoder['kind'] {
  if (isOnCpu(devices)) return AUTO_ON_CPU;
  // The batched decoder takes one device.
  const [first = '', second] = devices;
  return second === undefined && backendOf(first) === 'vulkan' ? AUTO_ON_VULKAN : 'whisper.cpp';
}

function decoderKind(
  { speechDecoder: decoder }: Settings,
  devices: readonly string[],
  model: Model | undefined,
): SpeechDecoder['kind'] {
  if (model?.decoder !== undefined) {
    if (decoder === 'auto' || decoder === model.decoder) return model.decoder;
    throw new ConfigError('VERBATIM_SPEECH_DECODER', decoder, `auto, ${model.decoder} for ${model.name}`);
  }
  if (decoder === 'auto') return automaticKind(devices);
  if (decoder === 'batched' && devices.length > 1) {
    const allowed = `auto, whisper.cpp on ${devices.join(', ')}; batched on one device`;
    throw new ConfigError('VERBATIM_SPEECH_DECODER', decoder, allowed);
  }
  return decoder;
}
