/**
 * Transcripts that accounts chose to keep: their texts, the words that they are found by, what was changed, and links
 * to them. A deleted one takes the stored answer to its request along, of which a mark is left, and the job that made
 * it: both are found by their charge.
 */
export const transcriptTables = `
-- What an account decided, and what it keeps.
CREATE TABLE libraries (
  account_id  TEXT COLLATE "C" PRIMARY KEY REFERENCES accounts (id),
  is_on       BOOLEAN NOT NULL DEFAULT false,
  keep_days   INTEGER CHECK (keep_days > 0),
  keeps_audio BOOLEAN NOT NULL DEFAULT false,
  decided_at  BIGINT,
  transcripts BIGINT NOT NULL DEFAULT 0 CHECK (transcripts >= 0),
  bytes       BIGINT NOT NULL DEFAULT 0 CHECK (bytes >= 0)
);

-- Ordered by place, which is made of the time. Long texts lie apart, so that rows of a list are read without them.
CREATE TABLE transcripts (
  place                BIGINT NOT NULL,
  id                   TEXT COLLATE "C" PRIMARY KEY,
  account_id           TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  version              BIGINT NOT NULL CHECK (version > 0),
  title                TEXT NOT NULL,
  created_at           BIGINT NOT NULL,
  expires_at           BIGINT,
  duration_seconds     DOUBLE PRECISION NOT NULL CHECK (duration_seconds >= 0),
  language             TEXT NOT NULL,
  translation_language TEXT,
  speakers             TEXT NOT NULL CHECK (json_typeof(speakers::json) = 'array'),
  model                TEXT,
  source               TEXT NOT NULL CHECK (source IN ('page', 'api', 'job', 'live')),
  source_name          TEXT,
  audio_bytes          BIGINT NOT NULL CHECK (audio_bytes >= 0),
  content_bytes        BIGINT NOT NULL CHECK (content_bytes >= 0),
  content              TEXT NOT NULL,
  -- As it was kept; null: as it is.
  original             TEXT,
  UNIQUE (account_id, place)
) WITH (toast_tuple_target = 512);
CREATE INDEX transcripts_to_expire ON transcripts (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE transcript_changes (
  transcript_id TEXT COLLATE "C" NOT NULL REFERENCES transcripts (id) ON DELETE CASCADE,
  version       BIGINT NOT NULL CHECK (version > 1),
  at            BIGINT NOT NULL,
  change        TEXT NOT NULL,
  PRIMARY KEY (transcript_id, version)
);

CREATE TABLE transcript_shares (
  id             TEXT COLLATE "C" PRIMARY KEY,
  transcript_id  TEXT COLLATE "C" NOT NULL REFERENCES transcripts (id) ON DELETE CASCADE,
  digest         BYTEA NOT NULL UNIQUE CHECK (length(digest) = 32),
  includes_audio BOOLEAN NOT NULL,
  created_at     BIGINT NOT NULL,
  expires_at     BIGINT NOT NULL
);
CREATE INDEX transcript_shares_of ON transcript_shares (transcript_id, created_at, id);

-- The words are made before they come here, and are separated by spaces and lines. A pending list would be read with
-- every search.
CREATE TABLE transcript_search (
  account_id TEXT COLLATE "C" NOT NULL,
  place      BIGINT NOT NULL,
  -- The transcript's, so that a page is full before transcripts are read.
  expires_at BIGINT,
  tokens     TEXT NOT NULL,
  entries    TSVECTOR NOT NULL GENERATED ALWAYS AS
    (array_to_tsvector(array_remove(string_to_array(translate(tokens, E'\\n', ' '), ' '), ''))) STORED,
  PRIMARY KEY (account_id, place),
  FOREIGN KEY (account_id, place) REFERENCES transcripts (account_id, place) ON DELETE CASCADE
) WITH (toast_tuple_target = 128);
CREATE INDEX transcript_search_entries ON transcript_search USING gin (entries) WITH (fastupdate = off);

-- Of an answer that was deleted with its transcript; its request is not done again.
ALTER TABLE idempotency_records ADD COLUMN deleted_at BIGINT;
CREATE OR REPLACE FUNCTION begin_answer(new_token TEXT, account TEXT, given_key TEXT, given_fingerprint TEXT,
  instance TEXT, now_ms BIGINT)
RETURNS SETOF idempotency_records LANGUAGE plpgsql AS $$
DECLARE
  known idempotency_records;
BEGIN
  LOOP
    INSERT INTO idempotency_records AS present (token, account_id, key, fingerprint, instance_id, created_at)
      VALUES (new_token, account, given_key, given_fingerprint, instance, now_ms)
      ON CONFLICT (account_id, key) DO UPDATE SET token = excluded.token, fingerprint = excluded.fingerprint,
        instance_id = excluded.instance_id, created_at = excluded.created_at, hold_id = NULL, job_id = NULL,
        result = NULL, credits_remaining = NULL, body = NULL, expires_at = NULL, derived = false,
        delivered_at = NULL, deleted_at = NULL
      WHERE present.expires_at <= now_ms;
    IF FOUND THEN RETURN; END IF;
    SELECT * INTO known FROM idempotency_records WHERE account_id = account AND key = given_key;
    IF FOUND THEN
      IF known.token <> new_token THEN RETURN NEXT known; END IF;
      RETURN;
    END IF;
    -- Deleted in between: once more.
  END LOOP;
END $$;
CREATE INDEX idempotency_by_hold ON idempotency_records (hold_id) WHERE hold_id IS NOT NULL;
CREATE INDEX idempotency_by_job ON idempotency_records (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX usage_events_by_transcription ON usage_events (transcription_id) WHERE transcription_id IS NOT NULL;
`;
