/** What the engine cuts out of audio files, beside what is spoken in them. */
import type { NativeBinding, VoiceActivityModel, WindowPolicy } from '../../src/engine/binding.js';
import { length, outside, type Interval } from '../reports/intervals.js';

export interface Cutting {
  binding: NativeBinding;
  policy: WindowPolicy;
  /** null: by energy. */
  voice: VoiceActivityModel | null;
}

export interface CutFile {
  windows: Interval[];
  seconds: number;
  /** Processor time of decoding the file and cutting it, seconds. */
  processorSeconds: number;
  /** The longest call, by the clock, seconds. */
  longestCall: number;
}

export interface Judged {
  /** Seconds that are spoken. */
  reference: number;
  /** Of these, seconds outside of all windows. */
  missed: number;
  /** Seconds of all windows. */
  windows: number;
}

export async function cutFile(path: string, { binding, policy, voice }: Cutting): Promise<CutFile> {
  const before = process.cpuUsage();
  const reader = await binding.openAudio(path, policy, voice === null ? {} : { voice });
  const windows: Interval[] = [];
  let longestCall = 0;
  try {
    for (;;) {
      const start = performance.now();
      const step = await reader.nextWindow();
      longestCall = Math.max(longestCall, (performance.now() - start) / 1000);
      if (step === null) break;
      if (typeof step === 'string') continue;
      windows.push(...step.pieces.map(({ startSeconds: start, endSeconds: end }) => ({ start, end })));
      step.release();
    }
    const { user, system } = process.cpuUsage(before);
    const processorSeconds = (user + system) / 1e6;
    return { windows, seconds: reader.positionSeconds, processorSeconds, longestCall };
  } finally {
    reader.close();
  }
}

export function judge(reference: readonly Interval[], windows: readonly Interval[]): Judged {
  return { reference: length(reference), missed: outside(reference, windows), windows: length(windows) };
}

export function total(judged: readonly Judged[]): Judged {
  const add = (field: keyof Judged): number => judged.reduce((sum, one) => sum + one[field], 0);
  return { reference: add('reference'), missed: add('missed'), windows: add('windows') };
}
