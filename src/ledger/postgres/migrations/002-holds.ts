/**
 * A hold, a charge and a release are one call each, so that the locks they take are held for no network's time. Locks
 * are taken in one order everywhere: hold or job, idempotency record, account, packs in the order in which they are
 * spent, the day's sums.
 *
 * The `outcome` says what is refused, which has then changed nothing.
 */
export const holds = `
CREATE FUNCTION balance_of(account TEXT, now_ms BIGINT) RETURNS BIGINT LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(remaining), 0)::bigint FROM credit_packs
  WHERE account_id = account AND remaining > 0 AND (expires_at IS NULL OR expires_at > now_ms)
$$;

-- Whether it may be charged. The account is not deleted until the caller's transaction ends.
CREATE FUNCTION key_is_live(by_key TEXT, account TEXT) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM accounts WHERE id = account FOR KEY SHARE;
  RETURN EXISTS (SELECT 1 FROM api_keys k JOIN accounts a ON a.id = k.account_id
    WHERE k.id = by_key AND a.id = account AND k.revoked_at IS NULL AND a.suspended_at IS NULL);
END $$;

-- What requests, not jobs, have on hold: on whichever server.
CREATE FUNCTION requests_in_flight(account TEXT) RETURNS BIGINT LANGUAGE sql STABLE AS $$
  SELECT count(*) FROM holds WHERE account_id = account AND settled_at IS NULL AND instance_id IS NOT NULL
$$;

-- 'placed', 'revoked', 'too many' of a request where as many as most_in_flight (null: no limit) are, or
-- 'insufficient', with what is
-- available.
CREATE FUNCTION place_hold(call_id TEXT, account TEXT, by_key TEXT, request TEXT, amount BIGINT, instance TEXT,
  job TEXT,
  most_in_flight BIGINT, now_ms BIGINT, OUT outcome TEXT, OUT hold BIGINT, OUT available BIGINT, OUT in_flight BIGINT)
LANGUAGE plpgsql AS $$
DECLARE
  pack RECORD;
  missing BIGINT := amount;
  taken BIGINT;
  packs BIGINT[] := '{}';
  parts BIGINT[] := '{}';
BEGIN
  SELECT id INTO hold FROM holds WHERE call = call_id;
  IF FOUND THEN outcome := 'placed'; RETURN; END IF;
  IF most_in_flight IS NOT NULL THEN
    -- Those that hold at the same time are counted one after the other, each by a statement that sees what was before.
    PERFORM 1 FROM accounts WHERE id = account FOR NO KEY UPDATE;
  END IF;
  IF NOT key_is_live(by_key, account) THEN outcome := 'revoked'; RETURN; END IF;
  in_flight := requests_in_flight(account);
  IF in_flight >= most_in_flight THEN outcome := 'too many'; RETURN; END IF;
  FOR pack IN SELECT id, remaining, expires_at FROM credit_packs WHERE account_id = account AND remaining > 0
    ORDER BY expires_at, created_at, id FOR UPDATE
  LOOP
    IF pack.expires_at <= now_ms THEN
      UPDATE credit_packs SET expired = expired + remaining, remaining = 0 WHERE id = pack.id;
      CONTINUE;
    END IF;
    EXIT WHEN missing = 0;
    taken := least(pack.remaining, missing);
    packs := packs || pack.id;
    parts := parts || taken;
    missing := missing - taken;
    EXIT WHEN missing = 0;
  END LOOP;
  available := amount - missing;
  IF missing > 0 THEN outcome := 'insufficient'; RETURN; END IF;
  INSERT INTO holds (call, account_id, key_id, request_id, credits, instance_id, job_id, created_at)
    VALUES (call_id, account, by_key, request, amount, instance, job, now_ms) RETURNING id INTO hold;
  IF amount > 0 THEN
    UPDATE credit_packs SET remaining = remaining - part.credits, held = held + part.credits
      FROM unnest(packs, parts) AS part (pack_id, credits) WHERE id = part.pack_id;
    INSERT INTO hold_parts (hold_id, pack_id, credits)
      SELECT hold, part.pack_id, part.credits FROM unnest(packs, parts) AS part (pack_id, credits);
  END IF;
  outcome := 'placed';
END $$;

-- Ends the parts of a hold that its caller has locked: so much is spent, in the packs' order; the rest goes back, or
-- is lost if the
-- pack has expired.
CREATE FUNCTION finish_parts(hold BIGINT, charge BIGINT, now_ms BIGINT) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  part RECORD;
  rest BIGINT := charge;
  charged BIGINT;
BEGIN
  FOR part IN SELECT p.pack_id, p.credits FROM hold_parts p JOIN credit_packs pack ON pack.id = p.pack_id
    WHERE p.hold_id = hold ORDER BY pack.expires_at, pack.created_at, pack.id FOR UPDATE OF pack
  LOOP
    charged := least(part.credits, rest);
    rest := rest - charged;
    UPDATE credit_packs SET held = held - part.credits, spent = spent + charged,
      remaining = remaining + CASE WHEN expires_at <= now_ms THEN 0 ELSE part.credits - charged END,
      expired = expired + CASE WHEN expires_at <= now_ms THEN part.credits - charged ELSE 0 END
      WHERE id = part.pack_id;
    IF charged = 0 THEN
      DELETE FROM hold_parts WHERE hold_id = hold AND pack_id = part.pack_id;
    ELSIF charged < part.credits THEN
      UPDATE hold_parts SET credits = charged WHERE hold_id = hold AND pack_id = part.pack_id;
    END IF;
  END LOOP;
END $$;

CREATE TYPE bill AS (credits BIGINT, endpoint TEXT, audio_ms BIGINT, minutes BIGINT, request_id TEXT,
  transcription_id TEXT, language TEXT, result TEXT);

-- Spends, and writes the usage row, of a hold that its caller has locked.
CREATE FUNCTION charge_hold(open_hold holds, to_pay bill, settle_call_id TEXT, now_ms BIGINT) RETURNS BIGINT
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM finish_parts(open_hold.id, to_pay.credits, now_ms);
  UPDATE holds SET credits = to_pay.credits, settled_at = now_ms, instance_id = NULL, job_id = NULL,
    settle_call = settle_call_id
    WHERE id = open_hold.id;
  INSERT INTO usage_events (hold_id, account_id, key_id, request_id, endpoint, audio_ms, minutes, credits, created_at,
      transcription_id, language)
    VALUES (open_hold.id, open_hold.account_id, open_hold.key_id, to_pay.request_id, to_pay.endpoint, to_pay.audio_ms,
      to_pay.minutes, to_pay.credits, now_ms, to_pay.transcription_id, to_pay.language);
  INSERT INTO usage_days AS kept (account_id, day, endpoint, requests, minutes, credits)
    VALUES (open_hold.account_id, now_ms / 86400000, to_pay.endpoint, 1, to_pay.minutes, to_pay.credits)
    ON CONFLICT (account_id, day, endpoint) DO UPDATE SET requests = kept.requests + 1,
      minutes = kept.minutes + excluded.minutes, credits = kept.credits + excluded.credits;
  RETURN balance_of(open_hold.account_id, now_ms);
END $$;

-- 'settled', with what is left; 'not open', 'bad amount' with what is held, 'revoked', or 'no record'.
CREATE FUNCTION settle_hold(call_id TEXT, hold BIGINT, to_pay bill, even_if_revoked BOOLEAN, record_token TEXT,
  now_ms BIGINT,
  OUT outcome TEXT, OUT held BIGINT, OUT remaining BIGINT) LANGUAGE plpgsql AS $$
DECLARE
  found_hold holds;
BEGIN
  SELECT * INTO found_hold FROM holds WHERE id = hold FOR UPDATE;
  IF found_hold.settle_call = call_id THEN
    outcome := 'settled';
    remaining := balance_of(found_hold.account_id, now_ms);
    RETURN;
  END IF;
  IF found_hold.id IS NULL OR found_hold.settled_at IS NOT NULL THEN outcome := 'not open'; RETURN; END IF;
  held := found_hold.credits;
  IF to_pay.credits IS NULL OR to_pay.credits < 0 OR to_pay.credits > held THEN outcome := 'bad amount'; RETURN; END IF;
  IF NOT key_is_live(found_hold.key_id, found_hold.account_id) AND
    (NOT even_if_revoked OR EXISTS (SELECT 1 FROM accounts WHERE id = found_hold.account_id AND deleted_at IS NOT NULL))
  THEN outcome := 'revoked'; RETURN; END IF;
  IF record_token IS NOT NULL THEN
    PERFORM 1 FROM idempotency_records
      WHERE token = record_token AND account_id = found_hold.account_id AND expires_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN outcome := 'no record'; RETURN; END IF;
  END IF;
  remaining := charge_hold(found_hold, to_pay, call_id, now_ms);
  IF record_token IS NOT NULL THEN
    UPDATE idempotency_records SET instance_id = NULL, hold_id = hold, result = to_pay.result,
      credits_remaining = remaining,
      expires_at = now_ms + CASE WHEN derived THEN 600000 ELSE 86400000 END
      WHERE token = record_token;
  END IF;
  outcome := 'settled';
END $$;

-- Gives everything back of a hold, known by its id or by the call that placed it; nothing to do for one that is
-- settled or gone.
CREATE FUNCTION release_hold(hold BIGINT, placed_by TEXT, now_ms BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
  found_hold holds;
BEGIN
  SELECT * INTO found_hold FROM holds WHERE (id = hold OR call = placed_by) AND settled_at IS NULL FOR UPDATE;
  IF found_hold.id IS NULL THEN RETURN 0; END IF;
  PERFORM finish_parts(found_hold.id, 0, now_ms);
  DELETE FROM holds WHERE id = found_hold.id;
  RETURN found_hold.credits;
END $$;
`;
