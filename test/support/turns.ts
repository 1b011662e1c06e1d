import { setImmediate as nextTurn } from 'node:timers/promises';

/** Turns of the event loop that others get before the work has ended. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let hasEnded = false;
  const count = async (): Promise<void> => {
    while (!hasEnded) {
      await nextTurn();
      turns += 1;
    }
  };
  const counting = count();
  await work();
  hasEnded = true;
  await counting;
  return turns;
}
