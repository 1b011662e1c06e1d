/**
 * The number of decoder steps in a call: about as many as take TARGET_MS, by the last calls. Then a call is worth its
 * way to a worker thread and back, and a new window does not wait for long.
 */
const TARGET_MS = 16;
const MOST_STEPS = 64;

/** The time that each row adds to a step, as a fraction of a step without rows; about the value measured on base. */
const ROW_PART = 0.6;

/** Weight of the last call. */
const FRESH = 0.4;

export class StepPace {
  /** Of a step without rows, milliseconds; null: nothing is measured. */
  private stepMs: number | null = null;

  stepsFor(windows: number): number {
    if (this.stepMs === null) return 1;
    const steps = Math.round(TARGET_MS / (this.stepMs * weight(windows)));
    return Math.min(MOST_STEPS, Math.max(1, steps));
  }

  took(call: { windows: number; steps: number; milliseconds: number }): void {
    if (call.steps === 0) return;
    const stepMs = call.milliseconds / call.steps / weight(call.windows);
    this.stepMs = this.stepMs === null ? stepMs : this.stepMs + FRESH * (stepMs - this.stepMs);
  }
}

function weight(windows: number): number {
  return 1 + ROW_PART * windows;
}
