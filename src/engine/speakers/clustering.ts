/** Which stretches of speech are one voice's, and how many voices there are. */
import { partitions, type Item, type Partition } from './partitions.js';

export interface ClusteringOptions {
  /** What one voice more must explain beyond what noise does, see leastGain(); higher: fewer voices. */
  threshold: number;
  /** A voice that speaks for less in all is taken for somebody else's, unless all do. */
  minSeconds: number;
  /** Voices, 1 or more; where there is less speech than that, fewer. */
  minSpeakers: number;
  maxSpeakers: number;
}

export interface SpeechFacts {
  /** Of speech in the file, counted once; the items may be of windows that overlap. */
  seconds: number;
  /** Mean cosine of two pieces of one voice, see OwnLikeness. */
  ownLikeness: number;
}

/** Seconds of speech that are attributed as one. */
const PIECE = 2;
/** The search ends after so many partitions without a better one. */
const MAX_STEPS_WITHOUT_GAIN = 4;

/** Of items whose vectors have length 1 at most: the mean direction of each voice. */
export function voicesOf(items: readonly Item[], facts: SpeechFacts, options: ClusteringOptions): Float32Array[] {
  if (items.length === 0) return [];
  return withoutScraps(items, chosen(items, facts, options), facts, options);
}

/**
 * The partition with the best score: speech that it explains, in pieces, minus the price of its voices. Each voice
 * beyond the first costs `threshold` plus leastGain(). This is the form of Schwarz' criterion, with a price that
 * follows the noise of the file.
 */
function chosen(items: readonly Item[], facts: SpeechFacts, options: ClusteringOptions): Partition {
  const { threshold, minSpeakers, maxSpeakers } = options;
  const pieces = facts.seconds / PIECE;
  const scale = pieces / items.reduce((sum, { weight }) => sum + weight, 0);
  let best: { partition: Partition; score: number } | null = null;
  let price = 0;
  for (const partition of partitions(items)) {
    const count = partition.voices.length;
    if (count > maxSpeakers && best !== null) break;
    if (count > 1) price += threshold + leastGain(pieces / (count - 1), facts.ownLikeness);
    const score = scale * partition.explained - price;
    if (best === null || best.partition.voices.length < minSpeakers || score > best.score) best = { partition, score };
    if (count >= Math.max(minSpeakers, best.partition.voices.length + MAX_STEPS_WITHOUT_GAIN)) break;
  }
  if (best === null) throw new RangeError('There are no items.');
  return best.partition;
}

/**
 * How much more two voices explain than one, of so many pieces that are one person's. Splitting one voice always gains
 * something: noise contributes the more, the noisier the pieces are, and drift a little for each piece, since no voice
 * stays the same. The constants were chosen on conversations.
 */
function leastGain(pieces: number, ownLikeness: number): number {
  const noise = (1 - ownLikeness) / Math.sqrt(ownLikeness);
  return NOISE * noise * Math.sqrt(pieces / 10) + DRIFT * pieces;
}
const [NOISE, DRIFT] = [0.6, 0.02];

function withoutScraps(
  items: readonly Item[],
  { voices, labels }: Partition,
  facts: SpeechFacts,
  { minSeconds, minSpeakers }: ClusteringOptions,
): Float32Array[] {
  const total = items.reduce((sum, { weight }) => sum + weight, 0);
  const seconds = voices.map((_, voice) => {
    const own = items.filter((_, index) => labels[index] === voice);
    return (own.reduce((sum, { weight }) => sum + weight, 0) * facts.seconds) / total;
  });
  const kept = voices.filter((_, voice) => (seconds[voice] ?? 0) >= minSeconds);
  return kept.length === 0 || kept.length < minSpeakers ? voices : kept;
}
