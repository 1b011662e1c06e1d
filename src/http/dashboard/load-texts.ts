/** The load in words, for the page as it is opened and for its script. */
import { number } from './format.js';
import type { AccountLoad, ServerLoad } from './server-load.js';
import { TEXTS } from './texts.js';

const { load: texts } = TEXTS;
const { units } = texts;

export type FigureName = keyof typeof texts.figures;

export interface LoadTexts {
  /** By what they show. */
  figures: Record<FigureName | 'at', string>;
  /** Cells of the table of accounts. */
  rows: string[][];
}

export function textsOf(load: ServerLoad): LoadTexts {
  const { slots, busySlots, backlogSeconds, maxBacklogSeconds, memoryBytes, eventLoopMs, accounts, live } = load;
  return {
    figures: {
      at: `${load.at.slice(0, 10)} ${load.at.slice(11, 19)} ${TEXTS.utc}`,
      busySlots: `${busySlots} / ${slots}`,
      windowsInFlight: number(load.windowsInFlight),
      queuedWindows: number(load.queuedWindows),
      backlogSeconds: `${number(Math.round(backlogSeconds))} / ${number(maxBacklogSeconds)} ${units.seconds}`,
      realTimeFactor: load.realTimeFactor?.toFixed(3) ?? texts.unknown,
      retryAfterSeconds: `${number(load.retryAfterSeconds)} ${units.seconds}`,
      requestsInFlight: number(load.requestsInFlight),
      refusals: number(load.refusals),
      liveSessions: `${number(live.sessions)} / ${number(live.most)}`,
      liveLagMs:
        live.lagMs === null
          ? texts.unknown
          : `${[live.lagMs.median, live.lagMs.p95].map(rounded).join(' / ')} ${units.milliseconds}`,
      liveRefusals: number(live.refused),
      eventLoopMs: eventLoopMs === null ? texts.unknown : `${eventLoopMs.toFixed(1)} ${units.milliseconds}`,
      memoryBytes: `${number(Math.round(memoryBytes / 2 ** 20))} ${units.mebibytes}`,
    },
    rows: accounts.length === 0 ? [[texts.nobody, '', '', '', '']] : accounts.map(rowOf),
  };
}

function rounded(value: number): string {
  return number(Math.round(value));
}

function rowOf({ email, requests, queuedFiles, queuedSeconds, jobSeconds }: AccountLoad): string[] {
  const seconds = [queuedSeconds, jobSeconds].map(rounded);
  return [email, number(requests), number(queuedFiles), ...seconds];
}
