/**
 * What the command line did is in the operators' log, too, and how each action ended. Only the outcome is written
 * later, once, with what the action made.
 */
export const operatorOutcomes = `
CREATE TABLE operator_actions_with_outcomes (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  -- NULL: the command line.
  operator_id TEXT REFERENCES accounts (id),
  action      TEXT NOT NULL CHECK (action <> ''),
  -- An account's id or a model's name: nothing that a deleted account must be forgotten by.
  subject     TEXT CHECK (length(subject) <= 100),
  detail      TEXT CHECK (length(detail) <= 100),
  outcome     TEXT CHECK (outcome IN ('done', 'refused')),
  created_at  INTEGER NOT NULL
) STRICT;
INSERT INTO operator_actions_with_outcomes (id, operator_id, action, subject, created_at)
SELECT id, operator_id, action, subject, created_at FROM operator_actions;
DROP TABLE operator_actions;
ALTER TABLE operator_actions_with_outcomes RENAME TO operator_actions;
CREATE TRIGGER operator_actions_no_update BEFORE UPDATE ON operator_actions
WHEN OLD.outcome IS NOT NULL OR NEW.outcome IS NULL
  OR NEW.id IS NOT OLD.id OR NEW.operator_id IS NOT OLD.operator_id OR NEW.action IS NOT OLD.action
  OR NEW.subject IS NOT coalesce(OLD.subject, NEW.subject)
  OR NEW.detail IS NOT OLD.detail OR NEW.created_at IS NOT OLD.created_at
BEGIN SELECT RAISE(ABORT, 'operator_actions is append-only'); END;
CREATE TRIGGER operator_actions_no_delete BEFORE DELETE ON operator_actions
BEGIN SELECT RAISE(ABORT, 'operator_actions is append-only'); END;
`;
