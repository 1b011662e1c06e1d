import type { AnsweredWork } from './clients.js';
import type { EngineSignal, EngineKill } from './killed-server.js';

export const DEADLY_SIGNALS: readonly EngineSignal[] = ['SIGKILL', 'SIGSEGV', 'SIGSTOP'];

/**
 * What kills cost those who wait for an answer and were not in two deaths, beside what the same load costs without one. A
 * restart lasts as long as the machine makes it, each time: of a request, the part of its time in which there was no
 * process for it is what restarts cost it, two of them where it was hit by two kills. What it took beyond that is
 * judged.
 */
export class KillDelays {
  readonly #calmMs: number[];
  readonly #deathsOf = new Map<string, number>();
  readonly #restartMs: Map<EngineSignal, number[]>;
  readonly #windowMs: number;

  /** `calm` comes from between the kills, so that machine and load are the same. */
  constructor(
    calm: readonly AnsweredWork[],
    private readonly kills: readonly EngineKill[],
    log: readonly Record<string, unknown>[],
  ) {
    this.#calmMs = calm.filter(isWaitedFor).map(lasted);
    // Each file is one window.
    this.#windowMs = median(calm.filter(({ way }) => way === 'plain').map(lasted));
    this.#restartMs = new Map(
      DEADLY_SIGNALS.map((signal) => {
        const same = kills.filter((kill) => kill.signal === signal);
        return [signal, same.map(({ recoveryMs }) => recoveryMs)];
      }),
    );
    for (const { requestIds = [] } of log as { requestIds?: string[] }[])
      for (const id of requestIds) this.#deathsOf.set(id, (this.#deathsOf.get(id) ?? 0) + 1);
  }

  /** Beyond restarts: what was lost of a window is done again. */
  get mostMs(): number {
    return this.#windowMs;
  }

  /** By how much later the latest hundredth came, restarts apart. */
  addedMs(outcomes: readonly AnsweredWork[]): number {
    return quantile(this.#judged(outcomes).map(this.#beyondRestarts), 0.99) - quantile(this.#calmMs, 0.99);
  }

  report(outcomes: readonly AnsweredWork[]): string[] {
    const hit = outcomes.filter(({ from, to }) => this.kills.some(({ at }) => at >= from && at <= to));
    const inTwoDeaths = outcomes.filter((outcome) => this.#wasInTwoDeaths(outcome));
    const restarts = [...this.#restartMs].map(([signal, all]) => `${signal} ${spread(all)}`);
    const judged = this.#judged(outcomes);
    return [
      `${this.kills.length} kills, ${outcomes.length} answers: ${ways(outcomes)}`,
      `${hit.length} of them over a kill, ${inTwoDeaths.length} in two deaths, ${outcomes.filter(({ status }) => status !== 200).length} refused`,
      `from a kill to a fresh process: ${restarts.join('; ')}; one window ${seconds(this.#windowMs)} s`,
      `without kills ${spread(this.#calmMs)}; with them ${spread(judged.map(lasted))}`,
      `with them, restarts apart, ${spread(judged.map(this.#beyondRestarts))}`,
      `p99 of the delay added to restarts ${seconds(this.addedMs(outcomes))} s; allowed ${seconds(this.mostMs)} s`,
    ];
  }

  #judged(outcomes: readonly AnsweredWork[]): AnsweredWork[] {
    return outcomes.filter((outcome) => isWaitedFor(outcome) && !this.#wasInTwoDeaths(outcome));
  }

  readonly #beyondRestarts = ({ from, to }: AnsweredWork): number => {
    const without = this.kills.map(({ at, recoveryMs }) => Math.min(to, at + recoveryMs) - Math.max(from, at));
    return to - from - without.reduce((sum, ms) => sum + Math.max(0, ms), 0);
  };

  #wasInTwoDeaths({ requestId }: AnsweredWork): boolean {
    return (this.#deathsOf.get(requestId) ?? 0) > 1;
  }
}

/** Jobs go behind the requests of clients that wait, kills or no kills. */
function isWaitedFor({ way }: AnsweredWork): boolean {
  return way !== 'job';
}

function lasted({ from, to }: AnsweredWork): number {
  return to - from;
}

function spread(all: readonly number[]): string {
  return [0.5, 0.9, 0.99].map((share) => `p${share * 100} ${seconds(quantile(all, share))} s`).join(', ');
}

function ways(outcomes: readonly AnsweredWork[]): string {
  const counts = new Map<string, number>();
  for (const { way } of outcomes) counts.set(way, (counts.get(way) ?? 0) + 1);
  return [...counts].map(([way, count]) => `${count} ${way}`).join(', ');
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(2);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
