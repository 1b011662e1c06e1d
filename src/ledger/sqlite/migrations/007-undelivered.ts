/** Answers under a derived key that did not arrive, found without reading those that did. */
export const undelivered = `
CREATE INDEX idempotency_undelivered ON idempotency_records (account_id, fingerprint)
  WHERE derived = 1 AND delivered_at IS NULL;
`;
