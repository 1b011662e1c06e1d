/** What is written beside a file to have a process hang when it opens that file. */
export interface Hang {
  /** A thread of libuv's pool, or the event loop. */
  where: 'worker' | 'loop';
  /** A FIFO that nobody writes to. */
  fifo: string;
  /** Only the first time. */
  once: boolean;
}

export function hangPath(path: string): string {
  return `${path}.hang`;
}
