import { nearestVoice } from './partitions.js';
import { scalarProduct } from './vectors.js';
import { speaksIn, type WindowActivity } from './window-activity.js';

/** Frames in which two speakers of a window both speak before they cannot be one person. */
const APART = 10;

/**
 * The voice of each speaker of a window; -1: no embedding of the speaker is known. Speakers who speak at the same time
 * are different people as long as there are voices for them. The choice has the greatest sum of cosines.
 */
export function assignedVoices(
  window: WindowActivity,
  embeddings: readonly (Float32Array | null)[],
  voices: readonly Float32Array[],
): number[] {
  const nearest = embeddings.map((vector) => (vector === null ? -1 : nearestVoice(vector, voices)));
  const together = pairsOf(embeddings.length).filter(
    ([one, other]) => nearest[one] !== -1 && nearest[other] !== -1 && speakTogether(window, one, other),
  );
  for (const group of groupsOf(together)) {
    const conflicts = together.filter(([one]) => group.includes(one));
    if (!conflicts.some(([one, other]) => nearest[one] === nearest[other])) continue;
    const vectors = embeddings.map((vector, speaker) => (group.includes(speaker) ? vector : null));
    const best = group.length > MOST_AT_ONCE ? null : bestAssignment(vectors, voices, conflicts);
    for (const speaker of group) nearest[speaker] = best?.[speaker] ?? nearest[speaker] ?? -1;
  }
  return nearest;
}

/** Of a group whose choices are all tried. */
const MOST_AT_ONCE = 6;

/** Speakers who talk over each other, or over somebody who does. */
function groupsOf(pairs: readonly (readonly [number, number])[]): number[][] {
  const groups: number[][] = [];
  for (const pair of pairs) {
    const [first, ...more] = groups.filter((group) => pair.some((speaker) => group.includes(speaker)));
    const group = first ?? [];
    if (first === undefined) groups.push(group);
    for (const other of more) groups.splice(groups.indexOf(other), 1);
    const members = [...new Set([...group, ...more.flat(), ...pair])];
    group.splice(0, group.length, ...members);
  }
  return groups;
}

/**
 * Of few speakers and few candidates, by trying them all; null where there are fewer voices than people who talk over
 * each other.
 */
function bestAssignment(
  embeddings: readonly (Float32Array | null)[],
  voices: readonly Float32Array[],
  conflicts: readonly (readonly [number, number])[],
): number[] | null {
  const speakers = embeddings.filter((vector) => vector !== null).length;
  let best: { sum: number; voices: number[] } | null = null;
  for (const choice of choices(embeddings.map((vector) => candidates(vector, voices, speakers)))) {
    if (conflicts.some(([one, other]) => choice[one]?.voice === choice[other]?.voice)) continue;
    const sum = choice.reduce((total, { similarity }) => total + similarity, 0);
    if (best === null || sum > best.sum) best = { sum, voices: choice.map(({ voice }) => voice) };
  }
  return best?.voices ?? null;
}

interface Candidate {
  voice: number;
  similarity: number;
}

/** As many voices as the window has speakers: one of them is always free. */
function candidates(vector: Float32Array | null, voices: readonly Float32Array[], count: number): Candidate[] {
  if (vector === null) return [{ voice: -1, similarity: 0 }];
  return voices
    .map((centroid, voice) => ({ voice, similarity: scalarProduct(vector, centroid) }))
    .sort((one, other) => other.similarity - one.similarity)
    .slice(0, count);
}

/** One of each list, in all ways. */
function choices<T>(lists: readonly (readonly T[])[]): T[][] {
  return lists.reduce<T[][]>((all, list) => all.flatMap((chosen) => list.map((one) => [...chosen, one])), [[]]);
}

function speakTogether(window: WindowActivity, one: number, other: number): boolean {
  let frames = 0;
  for (let frame = 0; frame < window.frames; frame++)
    if (speaksIn(window, one, frame) && speaksIn(window, other, frame)) frames += 1;
  return frames >= APART;
}

function pairsOf(count: number): [number, number][] {
  return Array.from({ length: count }, (_, one) => one).flatMap((one) =>
    Array.from({ length: one }, (_, other): [number, number] => [other, one]),
  );
}
