/**
 * Who may sign in to the dashboard, and who has: roles, passwords, one-time links, sessions. Of links and sessions only
 * a hash is stored. Usage events have what the history shows; those of before know no language and no id of the
 * transcription.
 */
export const access = `
ALTER TABLE accounts ADD COLUMN role TEXT NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'operator'));

CREATE TABLE passwords (
  account_id      TEXT PRIMARY KEY REFERENCES accounts (id),
  cost            INTEGER NOT NULL CHECK (cost > 1),
  block_size      INTEGER NOT NULL CHECK (block_size > 0),
  parallelization INTEGER NOT NULL CHECK (parallelization > 0),
  salt            BLOB NOT NULL CHECK (length(salt) >= 16),
  hash            BLOB NOT NULL CHECK (length(hash) >= 32),
  set_at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- An account has one open link: a new one takes its place.
CREATE TABLE sign_in_links (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  digest     BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  id         TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  digest     BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  method     TEXT NOT NULL CHECK (method IN ('link', 'password')),
  browser    TEXT NOT NULL,
  address    TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_of_account ON sessions (account_id, seen_at);
CREATE INDEX sessions_created ON sessions (created_at);
CREATE INDEX sessions_seen ON sessions (seen_at);

ALTER TABLE usage_events ADD COLUMN transcription_id TEXT;
ALTER TABLE usage_events ADD COLUMN language TEXT;
CREATE INDEX usage_events_of_account ON usage_events (account_id, hold_id);
CREATE INDEX holds_running_of_account ON holds (account_id) WHERE settled_at IS NULL;
`;
