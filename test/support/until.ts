/** Names what never came true before mocha gives up without a word; no verdict hangs on it. */
const WATCHDOG_MS = 60_000;

/** Polls until `condition` holds; for what has no notification. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = condition.toString(),
  watchdogMs = WATCHDOG_MS,
): Promise<void> {
  const deadline = performance.now() + watchdogMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
