/** The same clips through every contestant. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closedLoop } from '../load/closed-loop.js';
import type { HttpTarget, Upload } from '../load/http-target.js';
import { percentiles, sum, type Percentiles } from '../reports/statistics.js';

export interface PeerPass {
  /** Seconds of audio a second. */
  rtfx: number;
  /** Per request; null for a command that takes all files in one go. */
  latency: Percentiles | null;
}

export interface Contestant {
  name: string;
  run: () => Promise<PeerPass>;
}

/** So many clients over HTTP. Rejects with an Error when a request fails: a lost clip would look like speed. */
export async function serverPass(target: HttpTarget, uploads: readonly Upload[], clients: number): Promise<PeerPass> {
  const start = performance.now();
  const timed = await closedLoop(uploads, clients, async (upload, client) => {
    const { status } = await target.send(upload, client);
    if (status !== 200) throw new Error(`${target.name} answered ${upload.name} with status ${status}.`);
  });
  return {
    rtfx: secondsOf(uploads) / ((performance.now() - start) / 1000),
    latency: percentiles(timed.map(({ milliseconds }) => milliseconds)),
  };
}

/** All files in one call of whisper-cli or parakeet-cli, which loads its model once. */
export async function commandLinePass(
  binary: string,
  words: readonly string[],
  paths: readonly string[],
  audioSeconds: number,
): Promise<PeerPass> {
  const start = performance.now();
  const child = spawn(binary, [...words, ...paths], { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${binary} ended with exit code ${code}.`);
  return { rtfx: audioSeconds / ((performance.now() - start) / 1000), latency: null };
}

export function secondsOf(uploads: readonly Upload[]): number {
  return sum(uploads.map(({ seconds }) => seconds));
}
