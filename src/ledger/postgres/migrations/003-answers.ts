/** Answers kept for a repeat. */
export const answers = `
-- No row: a new record was made, under the token. Else the record that is in the way.
CREATE FUNCTION begin_answer(new_token TEXT, account TEXT, given_key TEXT, given_fingerprint TEXT, instance TEXT,
  now_ms BIGINT)
RETURNS SETOF idempotency_records LANGUAGE plpgsql AS $$
DECLARE
  known idempotency_records;
BEGIN
  LOOP
    INSERT INTO idempotency_records AS present (token, account_id, key, fingerprint, instance_id, created_at)
      VALUES (new_token, account, given_key, given_fingerprint, instance, now_ms)
      ON CONFLICT (account_id, key) DO UPDATE SET token = excluded.token, fingerprint = excluded.fingerprint,
        instance_id = excluded.instance_id, created_at = excluded.created_at, hold_id = NULL, job_id = NULL,
          result = NULL,
        credits_remaining = NULL, body = NULL, expires_at = NULL, derived = false, delivered_at = NULL
      WHERE present.expires_at <= now_ms;
    IF FOUND THEN RETURN; END IF;
    SELECT * INTO known FROM idempotency_records WHERE account_id = account AND key = given_key;
    IF FOUND THEN
      IF known.token <> new_token THEN RETURN NEXT known; END IF;
      RETURN;
    END IF;
    -- Forgotten in between: once more.
  END LOOP;
END $$;

-- The answer to be repeated; no row: a new record was made, under the token.
CREATE FUNCTION begin_derived_answer(new_token TEXT, account TEXT, given_fingerprint TEXT, retried BOOLEAN, busy TEXT[],
  instance TEXT, now_ms BIGINT) RETURNS SETOF idempotency_records LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM idempotency_records WHERE token = new_token;
  IF FOUND THEN RETURN; END IF;
  IF retried THEN
    RETURN QUERY SELECT * FROM idempotency_records
      WHERE derived AND account_id = account AND fingerprint = given_fingerprint AND expires_at > now_ms
        AND token <> ALL (busy)
      ORDER BY delivered_at IS NOT NULL, hold_id DESC LIMIT 1;
  ELSE
    RETURN QUERY SELECT * FROM idempotency_records
      WHERE derived AND delivered_at IS NULL AND account_id = account AND fingerprint = given_fingerprint
        AND expires_at > now_ms AND token <> ALL (busy)
      ORDER BY hold_id DESC LIMIT 1;
  END IF;
  IF FOUND THEN RETURN; END IF;
  -- A key that no client can guess: it is found by its fingerprint.
  INSERT INTO idempotency_records (token, account_id, key, fingerprint, instance_id, created_at, derived)
    VALUES (new_token, account, new_token, given_fingerprint, instance, now_ms, true);
END $$;
`;
