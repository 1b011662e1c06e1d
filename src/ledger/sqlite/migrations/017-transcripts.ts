/**
 * Transcripts that accounts chose to keep: their texts, the words that they are found by, what was changed, and links
 * to them. A deleted one takes the stored answer to its request along, of which a mark is left, and the job that made
 * it: both are found by their charge.
 */
export const keptTranscripts = `
-- What an account decided, and what it keeps.
CREATE TABLE libraries (
  account_id  TEXT PRIMARY KEY REFERENCES accounts (id),
  is_on       INTEGER NOT NULL DEFAULT 0 CHECK (is_on IN (0, 1)),
  keep_days   INTEGER CHECK (keep_days > 0),
  keeps_audio INTEGER NOT NULL DEFAULT 0 CHECK (keeps_audio IN (0, 1)),
  decided_at  INTEGER,
  transcripts INTEGER NOT NULL DEFAULT 0 CHECK (transcripts >= 0),
  bytes       INTEGER NOT NULL DEFAULT 0 CHECK (bytes >= 0)
) STRICT, WITHOUT ROWID;

-- Ordered by place, which is made of the time. The texts come last: rows of a list are read without them.
CREATE TABLE transcripts (
  place                INTEGER PRIMARY KEY,
  id                   TEXT NOT NULL UNIQUE,
  account_id           TEXT NOT NULL REFERENCES accounts (id),
  version              INTEGER NOT NULL CHECK (version > 0),
  title                TEXT NOT NULL,
  created_at           INTEGER NOT NULL,
  expires_at           INTEGER,
  duration_seconds     REAL NOT NULL CHECK (duration_seconds >= 0),
  language             TEXT NOT NULL,
  translation_language TEXT,
  speakers             TEXT NOT NULL CHECK (json_type(speakers) = 'array'),
  model                TEXT,
  source               TEXT NOT NULL CHECK (source IN ('page', 'api', 'job', 'live')),
  source_name          TEXT,
  audio_bytes          INTEGER NOT NULL CHECK (audio_bytes >= 0),
  content_bytes        INTEGER NOT NULL CHECK (content_bytes >= 0),
  content              TEXT NOT NULL,
  -- As it was kept; null: as it is.
  original             TEXT
) STRICT;
CREATE INDEX transcripts_of_account ON transcripts (account_id, place);
CREATE INDEX transcripts_to_expire ON transcripts (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE transcript_changes (
  transcript_id TEXT NOT NULL REFERENCES transcripts (id) ON DELETE CASCADE,
  version       INTEGER NOT NULL CHECK (version > 1),
  at            INTEGER NOT NULL,
  change        TEXT NOT NULL,
  PRIMARY KEY (transcript_id, version)
) STRICT;

CREATE TABLE transcript_shares (
  id             TEXT PRIMARY KEY,
  transcript_id  TEXT NOT NULL REFERENCES transcripts (id) ON DELETE CASCADE,
  digest         BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  includes_audio INTEGER NOT NULL CHECK (includes_audio IN (0, 1)),
  created_at     INTEGER NOT NULL,
  expires_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX transcript_shares_of ON transcript_shares (transcript_id, created_at, id);

-- The words that a transcript is found by, made before they come here, and separated by spaces and lines. Those of a
-- deleted one are erased from the index some at a time; no place is used again before.
CREATE TABLE transcript_search (
  place     INTEGER PRIMARY KEY,
  tokens    TEXT NOT NULL,
  is_erased INTEGER NOT NULL DEFAULT 0 CHECK (is_erased IN (0, 1))
) STRICT;
CREATE INDEX transcript_search_to_erase ON transcript_search (place) WHERE is_erased = 1;
-- Its rowid is the transcript's place. It has each word of a transcript once, and no text, so that words are added and
-- removed one by one. What is removed is overwritten.
CREATE VIRTUAL TABLE transcript_search_index USING fts5 (words, content = '', detail = none, columnsize = 0,
  tokenize = "ascii tokenchars '_'");
INSERT INTO transcript_search_index (transcript_search_index, rank) VALUES ('secure-delete', 1);

-- Of an answer that was deleted with its transcript; its request is not done again.
ALTER TABLE idempotency_records ADD COLUMN deleted_at INTEGER;
CREATE INDEX idempotency_by_hold ON idempotency_records (hold_id) WHERE hold_id IS NOT NULL;
CREATE INDEX idempotency_by_job ON idempotency_records (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX usage_events_by_transcription ON usage_events (transcription_id) WHERE transcription_id IS NOT NULL;
`;
