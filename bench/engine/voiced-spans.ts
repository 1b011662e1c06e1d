/** Where a model of voice activity hears speech in a recording. */
import type { NativeBinding, VoiceActivityModel, WindowPolicy } from '../../src/engine/binding.js';
import type { SpokenWord } from '../../src/models/alignment/timed-clips.js';

export type VoicedSpan = Pick<SpokenWord, 'start' | 'end'>;

/** Cuts at every pause: nothing is joined that the model keeps apart. */
const POLICY: WindowPolicy = {
  maxSeconds: 30,
  cut: 'pause',
  minPauseSeconds: 0.15,
  searchSeconds: 3,
  ownLength: true,
};

/** In order. Rejects as `openAudio` and `nextWindow` do. */
export async function voicedSpans(
  binding: Pick<NativeBinding, 'openAudio'>,
  voice: VoiceActivityModel,
  path: string,
): Promise<VoicedSpan[]> {
  const reader = await binding.openAudio(path, POLICY, { voice });
  try {
    const spans: VoicedSpan[] = [];
    for (let window = await reader.nextWindow(); window !== null; window = await reader.nextWindow()) {
      if (typeof window === 'string') continue;
      spans.push(...window.speech.map(({ startSeconds: start, endSeconds: end }) => ({ start, end })));
      window.release();
    }
    return spans;
  } finally {
    reader.close();
  }
}
