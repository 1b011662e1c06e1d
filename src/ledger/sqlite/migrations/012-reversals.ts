/**
 * A charge that the disk did not take is reversed, as if it had never been. Which one it is stands in the settings as
 * long as the reversing transaction runs; nothing else may delete a charge.
 */
export const reversals = `
DROP TRIGGER holds_settled_no_delete;
CREATE TRIGGER holds_settled_no_delete BEFORE DELETE ON holds
WHEN OLD.settled_at IS NOT NULL AND OLD.id IS NOT (SELECT value FROM settings WHERE name = 'reversing')
BEGIN SELECT RAISE(ABORT, 'a settled hold is final'); END;
DROP TRIGGER usage_events_no_delete;
CREATE TRIGGER usage_events_no_delete BEFORE DELETE ON usage_events
WHEN OLD.hold_id IS NOT (SELECT value FROM settings WHERE name = 'reversing')
BEGIN SELECT RAISE(ABORT, 'usage_events is append-only'); END;
`;
