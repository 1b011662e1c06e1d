/** What the command line did is in the operators' log, too, and how each action ended; that is written later, once. */
export const outcomesOfOperators = `
ALTER TABLE operator_actions
  ALTER COLUMN operator_id DROP NOT NULL,
  ADD COLUMN detail TEXT CHECK (length(detail) <= 100),
  ADD COLUMN outcome TEXT CHECK (outcome IN ('done', 'refused'));
CREATE OR REPLACE FUNCTION operator_action_stays() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.outcome IS NULL AND NEW.outcome IS NOT NULL
    AND NEW.subject IS NOT DISTINCT FROM coalesce(OLD.subject, NEW.subject)
    AND to_jsonb(NEW) - 'outcome' - 'subject' = to_jsonb(OLD) - 'outcome' - 'subject'
  THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'operator_actions is append-only';
END $$;
`;
