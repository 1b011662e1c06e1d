/**
 * How a call of the batch is made: how many decoder steps it has, and whether idle lanes help it.
 *
 * It has about as many steps as take TARGET_MS, by the last calls of its kind. Then a call is worth its way to a worker
 * thread and back, and a new window does not wait for long.
 *
 * Threads meet after each of a step's many parts. On free cores two take little more than half of the time; where other
 * programs want the cores, they take many times as long as one. So help is measured: it goes on as long as it is
 * faster, and else is tried again now and then, for few steps.
 */
const TARGET_MS = 16;
const MOST_STEPS = 64;

/** The time that each row adds to a step, as a fraction of a step without rows; about the value measured on base. */
const ROW_PART = 0.6;

/** Weight of the last call. */
const FRESH = 0.4;

/** What help must gain to be worth the other lanes' time. */
const LEAST_GAIN = 1.2;

/**
 * Calls between two trials of what is the slower one, calls of a trial, and how long one is to take. The first of a
 * trial may have threads to start.
 */
const CALLS_BETWEEN_TRIALS = 48;
const CALLS_OF_TRIAL = 2;
const TRIAL_MS = 8;

export interface BatchCall {
  steps: number;
  isHelped: boolean;
}

export interface CallOutcome {
  windows: number;
  steps: number;
  milliseconds: number;
  isHelped: boolean;
}

export class StepPace {
  /** Of a step without rows, milliseconds, without and with help; null: nothing is measured. */
  private aloneMs: number | null = null;
  private helpedMs: number | null = null;
  private callsSinceTrial = 0;
  /** Calls that are left of a trial, and whether they are helped. */
  private trial = { calls: 0, isHelped: false };

  /** The next call; `canHelp`: there are idle lanes. */
  next(windows: number, canHelp: boolean): BatchCall {
    if (!canHelp) return { steps: stepsIn(TARGET_MS, this.aloneMs, windows), isHelped: false };
    if (this.trial.calls === 0) this.beginTrialIfDue();
    if (this.trial.calls === 0) {
      const isHelped = this.isHelpFaster;
      return { steps: stepsIn(TARGET_MS, this.stepMs(isHelped), windows), isHelped };
    }
    this.trial.calls--;
    const { isHelped } = this.trial;
    return { steps: stepsIn(TRIAL_MS, this.stepMs(!isHelped), windows), isHelped };
  }

  took({ windows, steps, milliseconds, isHelped }: CallOutcome): void {
    if (steps === 0) return;
    const before = isHelped === this.isHelpFaster ? this.stepMs(isHelped) : null;
    const stepMs = averaged(before, milliseconds / steps / weight(windows));
    if (isHelped) this.helpedMs = stepMs;
    else this.aloneMs = stepMs;
  }

  private beginTrialIfDue(): void {
    const isFirst = this.aloneMs !== null && this.helpedMs === null;
    if (!isFirst && ++this.callsSinceTrial <= CALLS_BETWEEN_TRIALS) return;
    this.callsSinceTrial = 0;
    this.trial = { calls: CALLS_OF_TRIAL, isHelped: !this.isHelpFaster };
  }

  private stepMs(isHelped: boolean): number | null {
    return isHelped ? this.helpedMs : this.aloneMs;
  }

  private get isHelpFaster(): boolean {
    return this.aloneMs !== null && this.helpedMs !== null && LEAST_GAIN * this.helpedMs < this.aloneMs;
  }
}

function averaged(before: number | null, last: number): number {
  return before === null ? last : before + FRESH * (last - before);
}

function stepsIn(milliseconds: number, stepMs: number | null, windows: number): number {
  if (stepMs === null) return 1;
  return Math.min(MOST_STEPS, Math.max(1, Math.round(milliseconds / (stepMs * weight(windows)))));
}

function weight(windows: number): number {
  return 1 + ROW_PART * windows;
}
