import { cutAfter, dendrogram, type Item } from './dendrogram.js';
import { addScaled } from './clustering.js';
import { ClusterPairs } from './likeness.js';

/** Items that are clustered at once: the time for that grows with their square. */
const BLOCK = 400;
/** What is as alike as this is one voice, whatever the threshold of voices. */
const ALIKE = 0.85;
/** Of a block, so much is left at most. */
const LEFT = BLOCK / 4;

/**
 * What is to be clustered, as it comes: what is nearly the same is joined block by block, so that time and memory grow with the
 * length of a file and not with its square.
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

  /** In the order in which they were first heard, joined ones at the place of their first. */
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

/** Their mean, so that its products are the means of theirs, at the place of the first. */
function joined(items: readonly Item[], labels: readonly number[]): Item[] {
  const pairs = new ClusterPairs(items);
  const clusters: (Item & { row: number })[] = [];
  for (const [row, item] of items.entries()) {
    const cluster = clusters[labels[row] ?? 0];
    if (cluster === undefined) {
      clusters.push({ ...item, row, vector: item.vector.map((value) => value * item.weight) });
      continue;
    }
    addScaled(cluster.vector, item.vector, item.weight);
    cluster.weight += item.weight;
    pairs.join(cluster.row, row);
  }
  return clusters.map(({ row, vector, ...item }) => ({
    ...item,
    vector: vector.map((value) => value / item.weight),
    within: pairs.within(row),
  }));
}
