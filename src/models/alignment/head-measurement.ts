/** Measures how well each attention head of a speech model gives word times, on clips whose word times are known. */
import type {
  AlignableRecogniser,
  AttentionHead,
  AudioReader,
  AudioWindow,
  NativeBinding,
  WindowPolicy,
} from '../../engine/binding.js';
import { fromWhisperLanguage, toWhisperLanguage } from '../../engine/languages.js';
import { selectHeads, type HeadSelection } from './head-selection.js';
import type { TimedClip, SpokenWord } from './timed-clips.js';
import { matchWords } from './word-matching.js';

export interface HeadMeasurementOptions {
  binding: Pick<NativeBinding, 'openAudio'>;
  recogniser: AlignableRecogniser;
  policy: WindowPolicy;
  clips: readonly TimedClip[];
  threads: number;
  /** Called after each pass over the clips. */
  onPass?: (sets: number) => void;
}

/** The window keeps its samples until it is released. */
interface SpokenWindow {
  window: AudioWindow;
  language: string;
  words: readonly SpokenWord[];
}

const LIMITS = { most: 10, candidates: 24, worst: 1.5, leastGain: 0.0001 };

/**
 * Chooses the heads. The text of each window is known and aligned with it, so only the attention is judged. The first
 * word of a window does not count, because it starts with the window whichever head is used. Throws an Error if a
 * clip's language is unknown to the model, or if no clip has words.
 */
export async function measureHeads(options: HeadMeasurementOptions): Promise<HeadSelection<AttentionHead>> {
  const { recogniser, onPass } = options;
  refuseLanguages(options);
  const { layers, heads } = recogniser.decoderHeads;
  const all = Array.from({ length: layers * heads }, (_, index) => ({
    layer: Math.floor(index / heads),
    head: index % heads,
  }));
  const measure = async (sets: readonly (readonly AttentionHead[])[]): Promise<number[]> => {
    const errors = await meanErrors(sets, options);
    onPass?.(sets.length);
    return errors;
  };
  return selectHeads(all, measure, LIMITS);
}

function refuseLanguages({ recogniser, clips }: HeadMeasurementOptions): void {
  const known = recogniser.info.languages.map(fromWhisperLanguage);
  const unknown = clips.find(({ language }) => !known.includes(language));
  if (unknown === undefined) return;
  throw new Error(`${unknown.path} is in "${unknown.language}", which the model does not know.`);
}

/** The mean error of each set over all words, in seconds. */
async function meanErrors(
  headSets: readonly (readonly AttentionHead[])[],
  { binding, recogniser, policy, clips, threads }: HeadMeasurementOptions,
): Promise<number[]> {
  const sums = headSets.map(() => 0);
  let count = 0;
  for (const clip of clips) {
    for await (const { window, language, words } of spokenWindows(binding, policy, clip)) {
      const text = words.map(({ word }) => ` ${word}`).join('');
      const { ownLength } = policy;
      const laid = await recogniser.alignText(window, { text, language, ownLength, threads, headSets });
      window.release();
      const pairs = matchWords(
        words.map(({ word }) => word),
        laid.words,
      ).filter(({ spoken }) => spoken > 0);
      count += pairs.length;
      for (const [set, { startSeconds }] of laid.times.entries())
        for (const { spoken, recognised } of pairs)
          sums[set] = (sums[set] ?? 0) + Math.abs((startSeconds[recognised] ?? 0) - (words[spoken]?.start ?? 0));
    }
  }
  if (count === 0) throw new Error('The clips hold no words to measure by.');
  return sums.map((sum) => sum / count);
}

/**
 * The windows, cut as the service would cut them, with the words spoken in each. Windows without words are left out.
 */
async function* spokenWindows(
  binding: Pick<NativeBinding, 'openAudio'>,
  policy: WindowPolicy,
  { path, language, words }: TimedClip,
): AsyncGenerator<SpokenWindow> {
  const reader: AudioReader = await binding.openAudio(path, policy);
  try {
    for (let window = await reader.nextWindow(); window !== null; window = await reader.nextWindow()) {
      if (typeof window === 'string') continue;
      const { startSeconds, endSeconds } = window;
      const middle = ({ start, end }: SpokenWord): number => (start + end) / 2;
      const own = words.filter((word) => middle(word) >= startSeconds && middle(word) < endSeconds);
      if (own.length > 0) yield { window, language: toWhisperLanguage(language), words: own };
      else window.release();
    }
  } finally {
    reader.close();
  }
}
