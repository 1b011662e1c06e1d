/** Structured logs, with one JSON line for each request. Keys, transcripts and file names are never logged. */
import { destination, pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

export type { Logger };

/**
 * Writes to standard error, so that standard output contains only the command's results. Writes asynchronously, so that
 * a slow reader of the log does not stop the event loop. Call `logger.flush()` before exiting.
 */
export function createLogger(options: { level: string; stream?: DestinationStream }): Logger {
  const stream = options.stream ?? destination({ fd: 2, sync: false });
  return pino({ level: options.level, base: null, timestamp: stdTimeFunctions.isoTime }, stream);
}
