/** A form that is sent, and answered in events. XMLHttpRequest reports how much of it has left; fetch() does not. */
import { eventReader, type SentEvent } from './events.js';

export interface Sending {
  /** Aborts the request. */
  signal: AbortSignal;
  sent: (share: number) => void;
  event: (event: SentEvent) => void;
}

interface Failure {
  error?: { message?: string };
}

/**
 * Rejects with the server's own message, or an empty one when the connection broke off; with the signal's reason when
 * aborted.
 */
export function send(url: string, data: FormData, { signal, sent, event }: Sending): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const read = eventReader();
    let isOver = false;
    const take = (): void => {
      if (request.status !== 200) return;
      for (const one of read(request.responseText)) {
        if (one.name === 'error') reject(new Error((one.data as Failure).error?.message ?? ''));
        isOver ||= one.name === 'done';
        event(one);
      }
    };
    signal.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason as Error);
    });
    request.open('POST', url);
    request.upload.addEventListener('progress', ({ loaded, total }) => sent(loaded / Math.max(1, total)));
    request.addEventListener('progress', take);
    request.addEventListener('error', () => reject(new Error('')));
    request.addEventListener('load', () => {
      take();
      if (isOver) resolve();
      else reject(new Error(messageIn(request)));
    });
    request.send(data);
  });
}

/** What answers in the server's place, a proxy say, has none. */
function messageIn({ status, responseText }: XMLHttpRequest): string {
  if (status === 200) return '';
  try {
    return (JSON.parse(responseText) as Failure).error?.message ?? '';
  } catch {
    return `HTTP ${status}`;
  }
}
