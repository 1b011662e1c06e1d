/** What a server's memory is made of: a base, slots, and windows in flight. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpTarget, Upload } from './http-target.js';
import { residentBytesOfAll } from '../processes/process-usage.js';
import { fitLine } from '../reports/regression.js';

export interface ServerMemory {
  slots: number;
  /** Resident, bytes: before the first request, and after the last. */
  idle: number;
  after: number;
  /** Highest resident set seen while so many windows were in flight; the first is for one. */
  inFlight: number[];
}

export interface MemoryParts {
  /** Of a server without slots, by the fitted line: bytes. */
  base: number;
  /** Of one more slot, before the first request. */
  perSlot: number;
  /** What the first request adds beside its window: code that is first run then, buffers that all share. */
  firstRequest: number;
  /** Of one more window in flight, at most; its slot keeps what it grew by. */
  perWindow: number;
}

const SAMPLE_MS = 20;
/** What the start left for the collector and the allocator is released by then. */
const SETTLE_MS = 2000;

export interface MeasureOptions {
  target: HttpTarget;
  pid: number;
  slots: number;
  /** One window of full length. */
  upload: Upload;
  /** Times each number of windows in flight. */
  repeat: number;
}

/** Rejects with an Error when a request fails. */
export async function measureMemory({ target, pid, slots, upload, repeat }: MeasureOptions): Promise<ServerMemory> {
  await sleep(SETTLE_MS);
  const idle = residentBytesOfAll(pid);
  const inFlight: number[] = [];
  for (let windows = 1; windows <= slots; windows++) {
    inFlight.push(await highestDuring(pid, () => sendAtOnce(target, upload, windows, repeat)));
  }
  await sleep(SETTLE_MS);
  return { slots, idle, after: residentBytesOfAll(pid), inFlight };
}

async function sendAtOnce(target: HttpTarget, upload: Upload, windows: number, repeat: number): Promise<void> {
  for (let round = 0; round < repeat; round++) {
    const sent = Array.from({ length: windows }, (_, account) => target.send(upload, account));
    for (const { status } of await Promise.all(sent))
      if (status !== 200) throw new Error(`${target.name} answered ${upload.name} with status ${status}.`);
  }
}

async function highestDuring(pid: number, work: () => Promise<void>): Promise<number> {
  let highest = residentBytesOfAll(pid);
  const timer = setInterval(() => (highest = Math.max(highest, residentBytesOfAll(pid))), SAMPLE_MS);
  try {
    await work();
    return Math.max(highest, residentBytesOfAll(pid));
  } finally {
    clearInterval(timer);
  }
}

/** From servers of at least two different numbers of slots. */
export function memoryParts(measured: readonly ServerMemory[]): MemoryParts {
  const slots = fitLine(measured.map(({ slots: count, idle }) => [count, idle]));
  const windows = fitLine(
    measured.flatMap(({ idle, inFlight }) =>
      inFlight.map((bytes, index): [number, number] => [index + 1, bytes - idle]),
    ),
  );
  return {
    base: slots.intercept,
    perSlot: slots.slope,
    firstRequest: windows.intercept,
    perWindow: windows.slope,
  };
}
