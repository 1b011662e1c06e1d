/** The progress, on standard error, of commands that measure this machine or download a model. */
import type { ServiceContext } from '../service/context.js';
import { pull } from '../service/model-store.js';
import type { MeasuringCalls } from '../service/automatic-model/model-for-machine.js';
import { DownloadProgress } from './download-progress.js';

/** Shows progress if standard error is a terminal. Rejects as pull() does. */
export async function pullWithProgress(name: string, context: ServiceContext, signal: AbortSignal): Promise<boolean> {
  const progress = new DownloadProgress();
  try {
    return await pull(name, context, {
      onWait: () => console.error(waitingText(name)),
      onProgress: (file, received, total) => progress.received(file, received, total),
      signal,
    });
  } finally {
    progress.stop();
  }
}

export function waitingText(name: string): string {
  return `Another process is downloading ${name}. Waiting for it.`;
}

export const MEASURING_LINES: Pick<MeasuringCalls, 'onMeasuring' | 'onMeasured'> = {
  onMeasuring: () =>
    console.error('Measuring the speed of this machine first. This happens once and takes about half a minute.'),
  onMeasured: (model, speed) => console.error(`${model}: ${speedText(speed)}`),
};

export function speedText(speed: number): string {
  return `${speed.toFixed(1)} times real time`;
}
