/**
 * Answers to requests that came without an Idempotency-Key: a repeat is known by its fingerprint, and gets the stored
 * answer as long as it was not delivered.
 */
export const derivedKeys = `
ALTER TABLE idempotency_records ADD COLUMN derived INTEGER NOT NULL DEFAULT 0 CHECK (derived IN (0, 1));
ALTER TABLE idempotency_records ADD COLUMN delivered_at INTEGER CHECK (delivered_at IS NULL OR hold_id IS NOT NULL);
CREATE INDEX idempotency_derived ON idempotency_records (account_id, fingerprint) WHERE derived = 1;
`;
