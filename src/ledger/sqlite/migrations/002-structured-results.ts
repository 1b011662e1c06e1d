/**
 * Answers are stored as their result, and what was left after the charge; what they cost is in their usage row.
 * Bodies that version 0.1.0 rendered stay as they are until they expire.
 */
export const structuredResults = `
CREATE TABLE answers (
  token             TEXT PRIMARY KEY,
  account_id        TEXT NOT NULL REFERENCES accounts (id),
  key               TEXT NOT NULL,
  fingerprint       TEXT NOT NULL,
  instance_id       TEXT REFERENCES instances (id),
  hold_id           INTEGER REFERENCES usage_events (hold_id),
  result            TEXT CHECK (json_valid(result)),
  credits_remaining INTEGER CHECK (credits_remaining >= 0),
  body              TEXT,
  created_at        INTEGER NOT NULL,
  expires_at        INTEGER,
  UNIQUE (account_id, key),
  CHECK ((instance_id IS NULL) = (hold_id IS NOT NULL)),
  CHECK ((hold_id IS NULL) = (expires_at IS NULL)),
  CHECK ((hold_id IS NOT NULL) = (result IS NOT NULL) + (body IS NOT NULL)),
  CHECK ((result IS NULL) = (credits_remaining IS NULL))
) STRICT;

INSERT INTO answers (token, account_id, key, fingerprint, instance_id, hold_id, body, created_at, expires_at)
SELECT token, account_id, key, fingerprint, instance_id, hold_id, body, created_at, expires_at
FROM idempotency_records;

DROP TABLE idempotency_records;
ALTER TABLE answers RENAME TO idempotency_records;
CREATE INDEX idempotency_expiry ON idempotency_records (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX idempotency_running ON idempotency_records (instance_id) WHERE instance_id IS NOT NULL;
`;
