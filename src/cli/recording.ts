/** Samples of a microphone, through ffmpeg. */
import { spawn } from 'node:child_process';
import { UsageError } from '../service/variables.js';

const DEVICE = /^(pulse|alsa):(.+)$/;

export interface Microphone {
  system: string;
  name: string;
}

/** Throws UsageError. */
export function deviceOf(text: string): Microphone {
  const [, system, name] = DEVICE.exec(text) ?? [];
  if (system !== undefined && name !== undefined) return { system, name };
  throw new UsageError(`--device is "${text}"; allowed: pulse:NAME, alsa:NAME, such as pulse:default.`);
}

/** s16le, 16 kHz, mono. Fails with what ffmpeg prints. */
export async function* microphoneSamples(
  { system, name }: Microphone,
  ffmpeg: string,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const input = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-f', system, '-i', name];
  const output = ['-f', 's16le', '-ac', '1', '-ar', '16000', '-flush_packets', '1', '-'];
  const child = spawn(ffmpeg, [...input, ...output], { stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = (): void => void child.kill();
  signal.addEventListener('abort', stop, { once: true });
  let printed = '';
  child.stderr.on('data', (text: Buffer) => (printed = (printed + text.toString()).slice(-2000)));
  const ended = new Promise<Error | null>((resolve) => {
    child.once('error', (error) => resolve(new Error(`ffmpeg cannot be started: ${error.message}`)));
    child.once('close', (status) => {
      const why = printed.trim() === '' ? `exit code ${status ?? 'none'}` : printed.trim();
      resolve(status === 0 || signal.aborted ? null : new Error(`ffmpeg cannot record "${system}:${name}": ${why}`));
    });
  });
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    const failure = await ended;
    if (failure !== null) throw failure;
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}
