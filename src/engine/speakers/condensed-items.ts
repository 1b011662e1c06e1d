import { cutAfter, dendrogram } from './dendrogram.js';
import type { Item } from './partitions.js';
import { addScaled } from './vectors.js';

/** Items that are clustered at once: the time for that grows with their square. */
const BLOCK = 400;
/** What is as alike as this is one voice, whatever the threshold of voices. */
const ALIKE = 0.85;
/** Of a block, so much is left at most. */
const LEFT = BLOCK / 4;

/**
 * Collects the items to be clustered. Items that are nearly the same are joined, block by block. So time and memory
 * grow with the length of the file, and not with its square.
 */
export class CondensedItems {
  readonly #done: Item[] = [];
  #fresh: Item[] = [];

  add(item: Item): void {
    this.#fresh.push(item);
    if (this.#fresh.length < BLOCK) return;
    this.#done.push(...condensed(this.#fresh));
    this.#fresh = [];
    if (this.#done.length >= BLOCK) this.#fresh = condensed(this.#done.splice(0));
  }

  /** In the order of their first speech, joined ones at the place of their first. */
  get items(): readonly Item[] {
    return [...this.#done, ...this.#fresh];
  }
}

function condensed(items: readonly Item[]): Item[] {
  const merges = dendrogram(items);
  const unlike = merges.findIndex(({ similarity }) => similarity < ALIKE);
  const alike = unlike < 0 ? merges.length : unlike;
  return joined(items, cutAfter(merges, Math.max(alike, items.length - LEFT), items.length));
}

/** Each at the place of its first. */
function joined(items: readonly Item[], labels: readonly number[]): Item[] {
  const clusters: Item[][] = [];
  for (const [row, item] of items.entries()) (clusters[labels[row] ?? 0] ??= []).push(item);
  return clusters.map(meanOf);
}

/** Its products are the means of theirs. */
function meanOf(members: readonly Item[]): Item {
  const weight = members.reduce((sum, item) => sum + item.weight, 0);
  const vector = new Float32Array(members[0]?.vector.length ?? 0);
  for (const member of members) addScaled(vector, member.vector, member.weight / weight);
  return { vector, weight };
}
