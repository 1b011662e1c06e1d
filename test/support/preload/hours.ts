/**
 * Loaded into a server before anything else: whatever waits for an hour is due when the process gets the signal that
 * HOUR_SIGNAL names.
 */
export const HOUR_VARIABLE = 'HOUR_SIGNAL';

const HOUR_MS = 3_600_000;

const signal = process.env[HOUR_VARIABLE];
if (signal !== undefined) endHoursAt(signal);

type Start = (run: () => void, milliseconds?: number, ...more: never[]) => NodeJS.Timeout;

function endHoursAt(signal: string): void {
  const waiting = new Map<NodeJS.Timeout, () => void>();
  const start = globalThis.setTimeout as Start;
  const startNoted: Start = (run, milliseconds, ...more) => {
    const timer = start(run, milliseconds, ...more);
    if (milliseconds === HOUR_MS) waiting.set(timer, run);
    return timer;
  };
  globalThis.setTimeout = Object.assign(startNoted, globalThis.setTimeout);
  process.on(signal, () => {
    const due = [...waiting];
    waiting.clear();
    for (const [timer, run] of due) {
      clearTimeout(timer);
      run();
    }
  });
}
