/** So many clients, each with one request at a time, until the work is done. */
import { loadClock } from './clock.js';

export interface Timed<T> {
  value: T;
  milliseconds: number;
}

/** Runs `work` on every item, `clients` at once; results in the order of the items. Rejects with the first failure. */
export async function closedLoop<I, T>(
  items: Iterable<I>,
  clients: number,
  work: (item: I, client: number) => Promise<T>,
  clock = loadClock,
): Promise<Timed<T>[]> {
  const results: Timed<T>[] = [];
  const queue = numbered(items);
  const client = async (_: unknown, number: number): Promise<void> => {
    for (const [index, item] of queue) {
      const start = clock.now();
      const value = await work(item, number);
      results[index] = { value, milliseconds: clock.now() - start };
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return results;
}

/** One iterator for all clients: each takes the next item. */
function* numbered<I>(items: Iterable<I>): Generator<[number, I]> {
  let index = 0;
  for (const item of items) yield [index++, item];
}

/** The items `times` over, as whole rounds. */
export function repeated<T>(items: readonly T[], times: number): T[] {
  return Array.from({ length: times }, () => items).flat();
}
