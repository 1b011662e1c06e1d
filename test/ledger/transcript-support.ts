/** Kept transcripts for the tests. */
import type { NewTranscript, TranscriptHit, TranscriptLedger, TranscriptQuery } from '../../src/ledger/transcripts.js';

export const ROOM = 1_000_000_000;

let made = 0;

/** A new one of the account, with these texts. */
export function transcript(accountId: string, more: Partial<NewTranscript> = {}): NewTranscript {
  made += 1;
  return {
    ...{ id: `tr_kept_${made}`, accountId, title: 'meeting.wav', keepDays: null, durationSeconds: 61.5 },
    ...{ language: 'en', translationLanguage: null, speakers: ['S1'], model: 'base', audioBytes: 0 },
    ...{ source: { kind: 'api', name: 'my key' }, content: { segments: [] }, searchTexts: [], ...more },
  };
}

/** Of a query that names what matters. */
export function listTranscripts(
  transcripts: TranscriptLedger,
  accountId: string,
  query: Partial<TranscriptQuery> = {},
): Promise<TranscriptHit[]> {
  return transcripts.list(accountId, { words: null, limit: 100, after: null, ...query });
}
