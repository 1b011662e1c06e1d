import { execFile } from 'node:child_process';
import { ENVIRONMENT, limits } from './confinement.js';

/** An answer takes it a moment; what takes longer is no ffmpeg. */
const TIMEOUT_MS = 10_000;

/** As it names it itself; null: it cannot be run as conversions are. */
export function ffmpegVersion(ffmpeg: string): Promise<string | null> {
  const [program, ...args] = [...limits({ maxSeconds: 0 }), ffmpeg, '-version'] as const;
  const options = { env: { ...ENVIRONMENT }, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
  return new Promise((resolve) => {
    execFile(program, args, options, (_error, stdout) => {
      resolve(/^ffmpeg version (\S+)/.exec(stdout)?.[1] ?? null);
    });
  });
}
