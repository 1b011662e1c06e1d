/** What another account asks for while live sessions run. */
import type { HttpTarget, Upload } from '../load/http-target.js';

/** `clips`: one after the other. `file`: a long one, again and again. */
export const BESIDE = ['clips', 'file'] as const;
export type Beside = (typeof BESIDE)[number];

export interface OtherWork {
  kind: Beside;
  target: HttpTarget;
  /** Of the target. */
  account: number;
  upload: Upload;
}

/** Milliseconds until each clip was answered: before the sessions, and while they ran. */
export interface BesideTimes {
  alone: number[];
  beside: number[];
}

const CLIPS_ALONE = 30;

/** Begins the work, which goes on until it is stopped. Rejects where a request before the sessions fails. */
export async function beginOther(work: OtherWork): Promise<{ stop: () => Promise<BesideTimes | null> }> {
  const alone: number[] = [];
  if (work.kind === 'clips') while (alone.length < CLIPS_ALONE) alone.push(await answered(work));
  const control = new AbortController();
  const beside: number[] = [];
  const isStopped = (): boolean => control.signal.aborted;
  const running = (async () => {
    while (!isStopped()) {
      const time = await answered(work, control.signal);
      if (!isStopped()) beside.push(time);
    }
  })().catch((error: unknown) => error as Error);
  return {
    stop: async () => {
      control.abort();
      const failure = await running;
      if (failure instanceof Error) throw failure;
      return work.kind === 'clips' ? { alone, beside } : null;
    },
  };
}

async function answered({ target, account, upload }: OtherWork, signal?: AbortSignal): Promise<number> {
  const { status, milliseconds } = await target.send(upload, account, signal);
  if (status !== 200 && signal?.aborted !== true) {
    throw new Error(`${target.name}: status ${status} for ${upload.name} beside live sessions.`);
  }
  return milliseconds;
}
