/** The settings of the engine that a sweep goes through. */
import type { NativeBinding } from '../../src/engine/binding.js';
import type { SpeechDecoder } from '../../src/engine/speech/speech-models.js';
import { resolveDevices } from '../../src/engine/devices.js';

export interface EngineCell {
  modelPath: string;
  /** Ids; each has the model and its own slots, as `serve` has it. */
  devices: readonly string[];
  /** A device. */
  slots: number;
  /** A slot. */
  threads: number;
  /** 1 = greedy. */
  beam: number;
  decoder: SpeechDecoder;
}

export interface CellAxes {
  modelPaths: readonly string[];
  devices: readonly (readonly string[])[];
  slots: readonly number[];
  threads: readonly number[];
  beams: readonly number[];
  /** What decodes the model on these devices. */
  decodersOn: (devices: readonly string[], modelPath: string) => readonly SpeechDecoder[];
}

/** All combinations. */
export function engineCells(axes: CellAxes): EngineCell[] {
  const cells: EngineCell[] = [];
  for (const modelPath of axes.modelPaths)
    for (const devices of axes.devices)
      for (const decoder of axes.decodersOn(devices, modelPath))
        for (const beam of axes.beams)
          for (const threads of axes.threads)
            for (const slots of axes.slots) cells.push({ modelPath, devices, slots, threads, beam, decoder });
  return cells;
}

/** What a comma parts from the device before it, unless a number follows: "cuda:0,1" is one setting. */
const BETWEEN_SETTINGS = /,(?!\d+(?:,|$))/;

/**
 * Settings by comma, each as VERBATIM_DEVICE takes it -> the devices of each: "cpu,cuda:0,1" is the CPU, and two
 * devices at once. Throws as resolveDevices() does.
 */
export function deviceSettings(list: string, binding: Pick<NativeBinding, 'build' | 'devices'>): string[][] {
  const settings = list.split(BETWEEN_SETTINGS).map((setting) => resolveDevices(setting, binding));
  return [...new Map(settings.map((ids) => [ids.join(), ids])).values()];
}

/** 'whisper.cpp', or 'batched int8, 8 in flight' */
export function decoderText(decoder: SpeechDecoder): string {
  if (decoder.kind === 'whisper.cpp') return [decoder.kind, decoder.compute].filter(Boolean).join(' ');
  return `${decoder.kind} ${decoder.compute}, ${decoder.windowsInFlight} in flight`;
}

/** 'cuda:0+cuda:1' */
export function deviceText(devices: readonly string[]): string {
  return devices.join('+');
}
