/** The library of kept transcripts. */
import { AudioDirectory } from '../audio-directory.js';
import type { Ledger } from '../ledger/ledger.js';
import { Library, TRANSCRIPT_ID } from '../library/library.js';
import type { Timers } from '../timers.js';
import type { Logger } from './log.js';

export interface LibraryOptions {
  ledger: Ledger;
  logger: Logger;
  timers: Timers;
  clock: () => number;
  /** The directory for kept recordings, shared by all servers of the database. */
  libraryDirectory: string;
  settings: { maxLibraryBytes: number };
}

export function startLibrary({ ledger, logger, timers, clock, libraryDirectory, settings }: LibraryOptions): Library {
  return new Library({
    ...{ ledger, timers, now: clock, maxBytes: settings.maxLibraryBytes },
    audio: new AudioDirectory(libraryDirectory, { kind: 'transcript', ids: TRANSCRIPT_ID }),
    onError: (err) => logger.error({ err }, 'a kept transcript could not be written or deleted'),
  });
}
