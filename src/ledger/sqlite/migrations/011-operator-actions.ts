/** What operators ask for on their pages is written down before it is done. */
export const operatorActions = `
CREATE TABLE operator_actions (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  operator_id TEXT NOT NULL REFERENCES accounts (id),
  action      TEXT NOT NULL CHECK (action <> ''),
  -- An account's id or a model's name: nothing that a deleted account must be forgotten by.
  subject     TEXT CHECK (length(subject) <= 100),
  created_at  INTEGER NOT NULL
) STRICT;
CREATE TRIGGER operator_actions_no_update BEFORE UPDATE ON operator_actions
BEGIN SELECT RAISE(ABORT, 'operator_actions is append-only'); END;
CREATE TRIGGER operator_actions_no_delete BEFORE DELETE ON operator_actions
BEGIN SELECT RAISE(ABORT, 'operator_actions is append-only'); END;
`;
