/**
 * Calls `call` after the callbacks of all promises that this turn has settled, and of those that they settle. Without
 * the microtask, a tick that is requested outside of a promise would run before those callbacks.
 */
export function atTurnEnd(call: () => void): void {
  queueMicrotask(() => process.nextTick(call));
}
