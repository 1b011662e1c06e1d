/** What a transcription gives, and the form in which the ledger keeps it for a repeat of the request. */
import type { Charge, JsonValue } from '../ledger/types.js';
import type { Warning } from './warnings.js';

export interface TranscriptionResult extends Charge {
  id: string;
  durationSeconds: number;
  language: string;
  text: string;
  translation: { language: string; text: string } | null;
  warnings: Warning[];
}

const VERSION = 1;

/** Without what the ledger itself knows. A version that was released is never changed: a new one stands beside it. */
export type StoredResult = {
  version: typeof VERSION;
  id: string;
  durationSeconds: number;
  language: string;
  text: string;
  translation: { language: string; text: string } | null;
  warnings: Warning[];
};

export function storedResult(result: Omit<StoredResult, 'version'>): StoredResult {
  return { version: VERSION, ...result };
}

/** Throws an Error when another version of Verbatim stored it in a form that this one does not know. */
export function resultOf(stored: JsonValue, charge: Charge): TranscriptionResult {
  if (!isKnown(stored))
    throw new Error('A stored result has a form that this version of Verbatim cannot read.');
  const { id, durationSeconds, language, text, translation, warnings } = stored;
  return { id, durationSeconds, language, text, translation, warnings, ...charge };
}

function isKnown(stored: JsonValue): stored is StoredResult {
  return (
    typeof stored === 'object' && stored !== null && 'version' in stored && stored['version'] === VERSION
  );
}
