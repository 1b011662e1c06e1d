/**
 * Accounts are suspended and deleted. Of a deleted one money is left, under an id that names nobody: the triggers let
 * its rows forget what does not count. The table is recreated, since its e-mail may be gone.
 *
 * A payment is granted once; usage of all accounts is read by day.
 */
export const administration = `
CREATE TABLE kept_accounts (
  id           TEXT PRIMARY KEY,
  email        TEXT UNIQUE CHECK (email = lower(trim(email)) AND email <> ''),
  name         TEXT,
  created_at   INTEGER NOT NULL,
  role         TEXT NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'operator')),
  suspended_at INTEGER,
  deleted_at   INTEGER,
  -- Of one that is being deleted: usage up to this hold has forgotten what it was for.
  erased_to    INTEGER,
  CHECK ((email IS NULL) = (deleted_at IS NOT NULL)),
  CHECK (deleted_at IS NULL OR name IS NULL),
  CHECK (erased_to IS NULL OR deleted_at IS NOT NULL)
) STRICT;
INSERT INTO kept_accounts (id, email, name, created_at, role) SELECT id, email, name, created_at, role FROM accounts;
DROP TABLE accounts;
ALTER TABLE kept_accounts RENAME TO accounts;
CREATE INDEX accounts_by_age ON accounts (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX accounts_to_erase ON accounts (id) WHERE erased_to IS NOT NULL;

ALTER TABLE credit_packs ADD COLUMN payment_id TEXT CHECK (payment_id <> '');
CREATE UNIQUE INDEX credit_packs_by_payment ON credit_packs (payment_id) WHERE payment_id IS NOT NULL;

CREATE INDEX usage_days_by_day ON usage_days (day, account_id, endpoint);

DROP TRIGGER usage_events_no_update;
CREATE TRIGGER usage_events_no_update BEFORE UPDATE ON usage_events
WHEN (SELECT deleted_at FROM accounts WHERE id = OLD.account_id) IS NULL
  OR (NEW.hold_id, NEW.account_id, NEW.key_id, NEW.endpoint, NEW.audio_ms, NEW.minutes, NEW.credits, NEW.created_at)
    IS NOT (OLD.hold_id, OLD.account_id, OLD.key_id, OLD.endpoint, OLD.audio_ms, OLD.minutes, OLD.credits,
      OLD.created_at)
BEGIN SELECT RAISE(ABORT, 'usage_events is append-only'); END;

DROP TRIGGER holds_settled_no_update;
CREATE TRIGGER holds_settled_no_update BEFORE UPDATE ON holds
WHEN OLD.settled_at IS NOT NULL AND ((SELECT deleted_at FROM accounts WHERE id = OLD.account_id) IS NULL
  OR (NEW.id, NEW.account_id, NEW.key_id, NEW.credits, NEW.instance_id, NEW.job_id, NEW.created_at, NEW.settled_at)
    IS NOT (OLD.id, OLD.account_id, OLD.key_id, OLD.credits, OLD.instance_id, OLD.job_id, OLD.created_at,
      OLD.settled_at))
BEGIN SELECT RAISE(ABORT, 'a settled hold is final'); END;
`;
