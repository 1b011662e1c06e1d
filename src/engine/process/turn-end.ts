/**
 * Once all promises that this turn has settled are done, and what they settle: a tick that is asked for outside of them
 * comes before them.
 */
export function atTurnEnd(call: () => void): void {
  queueMicrotask(() => process.nextTick(call));
}
