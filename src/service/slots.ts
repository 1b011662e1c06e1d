/** How many windows one device works on at a time, where VERBATIM_SLOTS does not say. */
import { availableParallelism } from 'node:os';
import type { Config } from './config.js';

/**
 * A decoder step of one window leaves most of a CUDA device idle, so that a few windows in flight fill it. Each further
 * one costs caches of its own in the device's memory and waits for the same multiprocessors, however many cores the
 * host has.
 */
export const CUDA_SLOTS = 4;

/** On a CPU: as many as there are cores for. */
export function cpuSlots(threads: number, cores = availableParallelism()): number {
  return Math.max(1, Math.floor(cores / threads));
}

/** `devices` are ids of resolveDevices(): never a CPU beside CUDA. */
export function slotsOn(
  devices: readonly string[],
  { slots, threads }: Pick<Config, 'slots' | 'threads'>,
  cores?: number,
): number {
  if (slots !== null) return slots;
  return devices[0]?.startsWith('cuda:') === true ? CUDA_SLOTS : cpuSlots(threads, cores);
}
