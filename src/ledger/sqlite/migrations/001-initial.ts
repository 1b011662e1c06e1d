/**
 * Accounts, keys, packs, holds, usage, idempotency, running servers.
 *
 * Times are integer milliseconds since 1970, UTC. A pack's five amounts obey their equation at every write (CHECK);
 * held and spent can be recomputed from hold_parts, which is what the audit does.
 */
export const initial = `
CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE accounts (
  id         TEXT PRIMARY KEY,
  email      TEXT NOT NULL UNIQUE CHECK (email = lower(trim(email)) AND email <> ''),
  name       TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
  id           TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts (id),
  name         TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  prefix       TEXT NOT NULL CHECK (length(prefix) = 11),
  digest       BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  scopes       TEXT NOT NULL CHECK (json_type(scopes) = 'array'),
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at   INTEGER
) STRICT;
CREATE INDEX api_keys_of_account ON api_keys (account_id, created_at);

CREATE TABLE credit_packs (
  id         INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  purchased  INTEGER NOT NULL CHECK (purchased > 0),
  remaining  INTEGER NOT NULL CHECK (remaining >= 0),
  held       INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
  spent      INTEGER NOT NULL DEFAULT 0 CHECK (spent >= 0),
  expired    INTEGER NOT NULL DEFAULT 0 CHECK (expired >= 0),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  CHECK (purchased = remaining + held + spent + expired)
) STRICT;
CREATE INDEX credit_packs_of_account ON credit_packs (account_id, purchased);
-- Empty packs pile up over the years; a request looks only at those that still hold credits.
CREATE INDEX credit_packs_spendable ON credit_packs (account_id, expires_at, created_at) WHERE remaining > 0;

CREATE TABLE instances (
  id         TEXT PRIMARY KEY,
  pid        INTEGER NOT NULL,
  started_at INTEGER NOT NULL
) STRICT;

-- AUTOINCREMENT: a released hold's id is never used again, so a late second release cannot hit another request.
CREATE TABLE holds (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id  TEXT NOT NULL REFERENCES accounts (id),
  key_id      TEXT NOT NULL REFERENCES api_keys (id),
  request_id  TEXT NOT NULL,
  credits     INTEGER NOT NULL CHECK (credits >= 0),
  instance_id TEXT REFERENCES instances (id),
  created_at  INTEGER NOT NULL,
  settled_at  INTEGER,
  CHECK ((settled_at IS NULL) = (instance_id IS NOT NULL))
) STRICT;
CREATE INDEX holds_open ON holds (instance_id) WHERE settled_at IS NULL;

CREATE TABLE hold_parts (
  hold_id INTEGER NOT NULL REFERENCES holds (id) ON DELETE CASCADE,
  pack_id INTEGER NOT NULL REFERENCES credit_packs (id),
  credits INTEGER NOT NULL CHECK (credits > 0),
  PRIMARY KEY (hold_id, pack_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER holds_settled_no_update BEFORE UPDATE ON holds WHEN OLD.settled_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a settled hold is final'); END;
CREATE TRIGGER holds_settled_no_delete BEFORE DELETE ON holds WHEN OLD.settled_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a settled hold is final'); END;

-- One row a settled hold, by its primary key.
CREATE TABLE usage_events (
  hold_id    INTEGER PRIMARY KEY REFERENCES holds (id),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  key_id     TEXT NOT NULL REFERENCES api_keys (id),
  request_id TEXT NOT NULL,
  endpoint   TEXT NOT NULL,
  audio_ms   INTEGER NOT NULL CHECK (audio_ms >= 0),
  minutes    INTEGER NOT NULL CHECK (minutes >= 0),
  credits    INTEGER NOT NULL CHECK (credits >= 0),
  created_at INTEGER NOT NULL
) STRICT;

CREATE TRIGGER usage_events_no_update BEFORE UPDATE ON usage_events
BEGIN SELECT RAISE(ABORT, 'usage_events is append-only'); END;
CREATE TRIGGER usage_events_no_delete BEFORE DELETE ON usage_events
BEGIN SELECT RAISE(ABORT, 'usage_events is append-only'); END;
-- INSERT OR REPLACE deletes without firing the delete trigger.
CREATE TRIGGER usage_events_no_replace BEFORE INSERT ON usage_events
WHEN EXISTS (SELECT 1 FROM usage_events WHERE hold_id = NEW.hold_id)
BEGIN SELECT RAISE(ABORT, 'usage_events is append-only'); END;

-- Sums of usage_events, kept in the transaction that adds an event; day counts from 1970-01-01, UTC.
CREATE TABLE usage_days (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  day        INTEGER NOT NULL,
  endpoint   TEXT NOT NULL,
  requests   INTEGER NOT NULL CHECK (requests > 0),
  minutes    INTEGER NOT NULL CHECK (minutes >= 0),
  credits    INTEGER NOT NULL CHECK (credits >= 0),
  PRIMARY KEY (account_id, day, endpoint)
) STRICT, WITHOUT ROWID;

-- Running: instance_id set. Answered: status, body, hold_id and expires_at set.
CREATE TABLE idempotency_records (
  token       TEXT PRIMARY KEY,
  account_id  TEXT NOT NULL REFERENCES accounts (id),
  key         TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  instance_id TEXT REFERENCES instances (id),
  hold_id     INTEGER REFERENCES usage_events (hold_id),
  status      INTEGER,
  body        TEXT,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER,
  UNIQUE (account_id, key),
  CHECK ((instance_id IS NULL) = (body IS NOT NULL)),
  CHECK ((body IS NULL) = (hold_id IS NULL) AND (body IS NULL) = (status IS NULL)
    AND (body IS NULL) = (expires_at IS NULL))
) STRICT;
CREATE INDEX idempotency_expiry ON idempotency_records (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX idempotency_running ON idempotency_records (instance_id) WHERE instance_id IS NOT NULL;
`;
