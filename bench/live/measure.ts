/** Several live sessions at once that all speak, and what the server's processes used meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { processorMs, residentBytes, watchProcessor, withDescendants } from '../processes/process-usage.js';
import { beginOther, type BesideTimes, type OtherWork } from './beside.js';
import { liveProtocol, type LiveChoices, type ProtocolName } from './protocols.js';
import { feedSession, openSession, SessionRefused, type FedSession } from './session.js';
import { resampled, type Track } from './track.js';

export interface LiveLoad {
  url: string;
  /** Taken in turns. */
  keys: readonly string[];
  protocol: ProtocolName;
  /** One for each session. */
  tracks: readonly (Track & Pick<LiveChoices, 'language'>)[];
  choices: Omit<LiveChoices, 'language'>;
  /** Of the server; null: its processes are not seen from here. */
  pid: number | null;
  /** Of another account, meanwhile; null: nothing. */
  other: OtherWork | null;
}

export interface LiveRun {
  /** In the order of the tracks; null: the server refused it. */
  sessions: (FedSession | null)[];
  usage: ServerUsage | null;
  /** null: no clips were sent beside them. */
  clips: BesideTimes | null;
  /** Cores that the measuring program kept busy. */
  ownCores: number;
}

/** The engine: the descendants of the server's process, all together. */
export interface ServerUsage {
  server: ProcessUsage;
  engine: ProcessUsage;
}

export interface ProcessUsage {
  /** Cores kept busy on average. */
  cores: number;
  /** Resident, bytes: before the sessions, and the most while they ran. */
  before: number;
  most: number;
}

const SAMPLE_MS = 500;
const SETTLE_MS = 2000;

/** Rejects where a session ends in another way than by a refusal, or the other account's work fails. */
export async function measureLive(options: LiveLoad): Promise<LiveRun> {
  const { url, keys, protocol, tracks, choices, pid, other } = options;
  const made = tracks.map(({ language, samples }, index) => {
    const made = liveProtocol(protocol, keys[index % keys.length] ?? '', { ...choices, language });
    return { protocol: made, samples: resampled(samples, made.rate) };
  });
  const work = other === null ? null : await beginOther(other);
  await sleep(SETTLE_MS);
  const watch = pid === null ? null : new UsageWatch(pid);
  const stopOwn = watchProcessor();
  try {
    const sessions = await Promise.all(
      made.map(async (session, index) => {
        // As callers do: not all at the same tenth of a second.
        await sleep((index * 1000) / made.length);
        return speak(url, session);
      }),
    );
    const [usage, ownCores] = [watch?.stop() ?? null, stopOwn()];
    return { sessions, usage, ownCores, clips: (await work?.stop()) ?? null };
  } finally {
    watch?.stop();
    await work?.stop();
  }
}

async function speak(
  url: string,
  { protocol, samples }: { protocol: ReturnType<typeof liveProtocol>; samples: Int16Array },
): Promise<FedSession | null> {
  try {
    return await feedSession(await openSession(url, protocol), protocol, samples);
  } catch (error) {
    if (error instanceof SessionRefused && (error.status === 503 || error.status === 429)) return null;
    throw error;
  }
}

interface Reading {
  processorMs: number;
  bytes: number;
}

class UsageWatch {
  readonly #begun = performance.now();
  readonly #first: Record<keyof ServerUsage, Reading>;
  readonly #most: Record<keyof ServerUsage, number>;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly pid: number) {
    this.#first = readings(pid);
    this.#most = { server: this.#first.server.bytes, engine: this.#first.engine.bytes };
    this.#timer = setInterval(() => this.#look(), SAMPLE_MS);
  }

  stop(): ServerUsage {
    clearInterval(this.#timer);
    const last = this.#look();
    const milliseconds = performance.now() - this.#begun;
    const of = (name: keyof ServerUsage): ProcessUsage => ({
      cores: (last[name].processorMs - this.#first[name].processorMs) / milliseconds,
      before: this.#first[name].bytes,
      most: this.#most[name],
    });
    return { server: of('server'), engine: of('engine') };
  }

  #look(): Record<keyof ServerUsage, Reading> {
    const now = readings(this.pid);
    for (const name of ['server', 'engine'] as const) {
      this.#most[name] = Math.max(this.#most[name], now[name].bytes);
    }
    return now;
  }
}

function readings(pid: number): Record<keyof ServerUsage, Reading> {
  const [, ...engine] = withDescendants(pid);
  const total = (figure: (pid: number) => number): number =>
    engine.reduce((sum, one) => sum + figureOf(figure, one), 0);
  return {
    server: { processorMs: processorMs(pid), bytes: residentBytes(pid) },
    engine: { processorMs: total(processorMs), bytes: total(residentBytes) },
  };
}

/** 0 of a process that has ended meanwhile. */
function figureOf(figure: (pid: number) => number, pid: number): number {
  try {
    return figure(pid);
  } catch {
    return 0;
  }
}
