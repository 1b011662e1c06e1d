/** The number of windows that one device works on at a time, if VERBATIM_SLOTS is not set. */
import { availableParallelism } from 'node:os';
import { backendOf } from '../engine/devices.js';
import type { Config } from './config.js';

/**
 * A decoder step of one window leaves most of a graphics card idle, so a few windows together fill it. Each further
 * window needs its own caches in device memory and waits for the same multiprocessors, however many cores the host has.
 */
export const GPU_SLOTS = 4;

/** On a CPU: as many slots as there are cores for their threads. */
export function cpuSlots(threads: number, cores = availableParallelism()): number {
  return Math.max(1, Math.floor(cores / threads));
}

/** `devices`: ids from resolveDevices(), which never lists a CPU together with a graphics card. */
export function slotsOn(
  devices: readonly string[],
  { slots, threads }: Pick<Config, 'slots' | 'threads'>,
  cores?: number,
): number {
  if (slots !== null) return slots;
  return backendOf(devices[0] ?? 'cpu') === null ? cpuSlots(threads, cores) : GPU_SLOTS;
}
