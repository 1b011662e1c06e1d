/** Usage notes the speech model that made the answer; of a deleted account, too: it names nobody. */
export const modelsOfUsage = `
ALTER TABLE usage_events ADD COLUMN model TEXT;

DROP TRIGGER usage_events_no_update;
CREATE TRIGGER usage_events_no_update BEFORE UPDATE ON usage_events
WHEN (SELECT deleted_at FROM accounts WHERE id = OLD.account_id) IS NULL
  OR (NEW.hold_id, NEW.account_id, NEW.key_id, NEW.endpoint, NEW.audio_ms, NEW.minutes, NEW.credits, NEW.created_at,
      NEW.model)
    IS NOT (OLD.hold_id, OLD.account_id, OLD.key_id, OLD.endpoint, OLD.audio_ms, OLD.minutes, OLD.credits,
      OLD.created_at, OLD.model)
BEGIN SELECT RAISE(ABORT, 'usage_events is append-only'); END;
`;
