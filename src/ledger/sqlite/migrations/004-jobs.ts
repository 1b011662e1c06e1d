/**
 * Jobs: transcriptions that are answered later, and the events that notify their owners.
 *
 * Who works on a job or sends an event has a lease on it (instance_id, lease_expires_at): another server takes what a
 * dead one left. In a database that many servers write at once the next one is found with FOR UPDATE SKIP LOCKED; here
 * the write lock does it.
 *
 * A job's credits are held by the job, not by a server: they outlive it. That hold has its job_id until it is settled
 * or released, and so has the answer that an Idempotency-Key is given for an accepted job, which is not charged yet.
 * Both tables are recreated, since their conditions change.
 */
export const jobs = `
CREATE TABLE jobs (
  id                TEXT PRIMARY KEY,
  account_id        TEXT NOT NULL REFERENCES accounts (id),
  key_id            TEXT NOT NULL REFERENCES api_keys (id),
  request_id        TEXT NOT NULL,
  status            TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  options           TEXT NOT NULL CHECK (json_valid(options)),
  audio_seconds     REAL NOT NULL CHECK (audio_seconds >= 0),
  done_seconds      REAL NOT NULL DEFAULT 0 CHECK (done_seconds >= 0),
  -- How often a server has begun it; with that server's id it tells whether a lease is still the same.
  attempts          INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  -- Of these, how many a server gave back because they could not go on just then.
  put_back          INTEGER NOT NULL DEFAULT 0 CHECK (put_back >= 0),
  not_before        INTEGER NOT NULL,
  instance_id       TEXT REFERENCES instances (id),
  lease_expires_at  INTEGER,
  created_at        INTEGER NOT NULL,
  started_at        INTEGER,
  finished_at       INTEGER,
  hold_id           INTEGER UNIQUE REFERENCES usage_events (hold_id),
  result            TEXT CHECK (json_valid(result)),
  credits_remaining INTEGER CHECK (credits_remaining >= 0),
  error             TEXT CHECK (json_valid(error)),
  webhook_url       TEXT,
  webhook_secret    TEXT,
  CHECK ((status = 'running') = (instance_id IS NOT NULL)),
  CHECK ((instance_id IS NULL) = (lease_expires_at IS NULL)),
  CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL)),
  CHECK ((status = 'succeeded') = (hold_id IS NOT NULL)),
  CHECK ((status = 'succeeded') = (result IS NOT NULL)),
  CHECK ((status = 'succeeded') = (credits_remaining IS NOT NULL)),
  CHECK ((status = 'failed') = (error IS NOT NULL)),
  CHECK ((webhook_url IS NULL) = (webhook_secret IS NULL))
) STRICT;
CREATE INDEX jobs_of_account ON jobs (account_id, created_at, id);
CREATE INDEX jobs_open ON jobs (account_id, created_at, id) WHERE status IN ('queued', 'running');
CREATE INDEX jobs_running ON jobs (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL;

-- One event a job, so that it has one id however often it is sent. Due: due_at set; else it was delivered, or given up.
CREATE TABLE webhook_events (
  id               TEXT PRIMARY KEY,
  job_id           TEXT NOT NULL UNIQUE REFERENCES jobs (id) ON DELETE CASCADE,
  account_id       TEXT NOT NULL REFERENCES accounts (id),
  created_at       INTEGER NOT NULL,
  attempts         INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  due_at           INTEGER,
  give_up_at       INTEGER NOT NULL,
  instance_id      TEXT REFERENCES instances (id),
  lease_expires_at INTEGER,
  delivered_at     INTEGER,
  last_problem     TEXT,
  CHECK ((instance_id IS NULL) = (lease_expires_at IS NULL)),
  CHECK (due_at IS NULL OR delivered_at IS NULL)
) STRICT;
CREATE INDEX webhook_events_due ON webhook_events (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_events_sending ON webhook_events (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX webhook_events_by_age ON webhook_events (created_at, id);

CREATE TABLE kept_holds (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id  TEXT NOT NULL REFERENCES accounts (id),
  key_id      TEXT NOT NULL REFERENCES api_keys (id),
  request_id  TEXT NOT NULL,
  credits     INTEGER NOT NULL CHECK (credits >= 0),
  instance_id TEXT REFERENCES instances (id),
  job_id      TEXT UNIQUE REFERENCES jobs (id),
  created_at  INTEGER NOT NULL,
  settled_at  INTEGER,
  CHECK ((settled_at IS NULL) = (instance_id IS NOT NULL) + (job_id IS NOT NULL))
) STRICT;
INSERT INTO kept_holds (id, account_id, key_id, request_id, credits, instance_id, created_at, settled_at)
SELECT id, account_id, key_id, request_id, credits, instance_id, created_at, settled_at FROM holds;
-- Ids of released holds are not used again by the new table, either.
DELETE FROM sqlite_sequence WHERE name = 'kept_holds';
INSERT INTO sqlite_sequence (name, seq) SELECT 'kept_holds', seq FROM sqlite_sequence WHERE name = 'holds';
DROP TABLE holds;
ALTER TABLE kept_holds RENAME TO holds;
CREATE INDEX holds_open ON holds (instance_id) WHERE settled_at IS NULL;
CREATE TRIGGER holds_settled_no_update BEFORE UPDATE ON holds WHEN OLD.settled_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a settled hold is final'); END;
CREATE TRIGGER holds_settled_no_delete BEFORE DELETE ON holds WHEN OLD.settled_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a settled hold is final'); END;

-- Running: instance_id set. Answered: expires_at set, and hold_id, or job_id of a job that may be forgotten since.
CREATE TABLE kept_answers (
  token             TEXT PRIMARY KEY,
  account_id        TEXT NOT NULL REFERENCES accounts (id),
  key               TEXT NOT NULL,
  fingerprint       TEXT NOT NULL,
  instance_id       TEXT REFERENCES instances (id),
  hold_id           INTEGER REFERENCES usage_events (hold_id),
  job_id            TEXT,
  result            TEXT CHECK (json_valid(result)),
  credits_remaining INTEGER CHECK (credits_remaining >= 0),
  body              TEXT,
  created_at        INTEGER NOT NULL,
  expires_at        INTEGER,
  derived           INTEGER NOT NULL DEFAULT 0 CHECK (derived IN (0, 1)),
  delivered_at      INTEGER CHECK (delivered_at IS NULL OR hold_id IS NOT NULL),
  UNIQUE (account_id, key),
  CHECK ((instance_id IS NULL) = (expires_at IS NOT NULL)),
  CHECK ((expires_at IS NOT NULL) = (hold_id IS NOT NULL) + (job_id IS NOT NULL)),
  CHECK ((expires_at IS NOT NULL) = (result IS NOT NULL) + (body IS NOT NULL)),
  CHECK ((result IS NOT NULL AND hold_id IS NOT NULL) = (credits_remaining IS NOT NULL))
) STRICT;
INSERT INTO kept_answers (token, account_id, key, fingerprint, instance_id, hold_id, result, credits_remaining, body,
  created_at,
  expires_at, derived, delivered_at)
SELECT token, account_id, key, fingerprint, instance_id, hold_id, result, credits_remaining, body, created_at,
  expires_at, derived, delivered_at
FROM idempotency_records;
DROP TABLE idempotency_records;
ALTER TABLE kept_answers RENAME TO idempotency_records;
CREATE INDEX idempotency_expiry ON idempotency_records (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX idempotency_running ON idempotency_records (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX idempotency_derived ON idempotency_records (account_id, fingerprint) WHERE derived = 1;
`;
