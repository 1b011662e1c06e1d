import { stat } from 'node:fs/promises';

/** Resolves when a thread has taken up all that was queued before: libuv's pool goes first come, first served. */
export async function takenUp(): Promise<void> {
  await stat(__filename);
}
