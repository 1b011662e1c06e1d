/**
 * What an account asked for is listed with the name of the file, and by time; usage is summed by key and model; and
 * operators find accounts by words of their addresses and names.
 */
export const activity = `
ALTER TABLE holds ADD COLUMN file_name TEXT CHECK (length(file_name) BETWEEN 1 AND 255);
ALTER TABLE jobs ADD COLUMN file_name TEXT CHECK (length(file_name) BETWEEN 1 AND 255);
ALTER TABLE credit_packs ADD COLUMN note TEXT CHECK (length(note) BETWEEN 1 AND 200);
CREATE INDEX usage_events_by_time ON usage_events (account_id, created_at, hold_id);

-- Sums of usage_events, kept in the transaction that adds an event. model '': it was not recorded.
CREATE TABLE usage_keys (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  day        INTEGER NOT NULL,
  key_id     TEXT NOT NULL REFERENCES api_keys (id),
  model      TEXT NOT NULL,
  requests   INTEGER NOT NULL CHECK (requests > 0),
  minutes    INTEGER NOT NULL CHECK (minutes >= 0),
  credits    INTEGER NOT NULL CHECK (credits >= 0),
  PRIMARY KEY (account_id, day, key_id, model)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_keys (account_id, day, key_id, model, requests, minutes, credits)
SELECT account_id, created_at / 86400000, key_id, coalesce(model, ''), count(*), sum(minutes), sum(credits)
FROM usage_events GROUP BY 1, 2, 3, 4;

-- Of accounts that are not deleted: words of the address and the name, as searchTerms() makes them.
CREATE TABLE account_terms (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  term       TEXT NOT NULL,
  PRIMARY KEY (account_id, term)
) STRICT, WITHOUT ROWID;
INSERT INTO account_terms (account_id, term)
SELECT accounts.id, term.value FROM accounts, json_each(search_terms(accounts.email, accounts.name)) term
WHERE accounts.deleted_at IS NULL;
CREATE INDEX account_terms_by_term ON account_terms (term, account_id);
`;
