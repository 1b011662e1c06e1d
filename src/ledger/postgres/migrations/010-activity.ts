/**
 * What an account asked for is listed with the name of the file, and by time; usage is summed by key and model; and
 * operators find accounts by words of their addresses and names.
 *
 * The new parameter of a function is its last and has a default, so that servers of the version before can call it.
 */
export const activityTables = `
ALTER TABLE holds ADD COLUMN file_name TEXT CHECK (length(file_name) BETWEEN 1 AND 255);
ALTER TABLE jobs ADD COLUMN file_name TEXT CHECK (length(file_name) BETWEEN 1 AND 255);
ALTER TABLE credit_packs ADD COLUMN note TEXT CHECK (length(note) BETWEEN 1 AND 200);
CREATE INDEX usage_events_by_time ON usage_events (account_id, created_at, hold_id);

-- Sums of usage_events, kept in the transaction that adds an event. model '': it was not recorded.
CREATE TABLE usage_keys (
  account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  day        BIGINT NOT NULL,
  key_id     TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id),
  model      TEXT COLLATE "C" NOT NULL,
  requests   BIGINT NOT NULL CHECK (requests > 0),
  minutes    BIGINT NOT NULL CHECK (minutes >= 0),
  credits    BIGINT NOT NULL CHECK (credits >= 0),
  PRIMARY KEY (account_id, day, key_id, model)
);
INSERT INTO usage_keys (account_id, day, key_id, model, requests, minutes, credits)
SELECT account_id, created_at / 86400000, key_id, coalesce(model, ''), count(*), sum(minutes), sum(credits)
FROM usage_events GROUP BY 1, 2, 3, 4;

-- Of accounts that are not deleted: words of the address and the name, as searchTerms() makes them.
CREATE TABLE account_terms (
  account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  term       TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, term)
);
INSERT INTO account_terms (account_id, term)
SELECT DISTINCT accounts.id, left(term, 64)
FROM accounts, regexp_split_to_table(
  regexp_replace(
    lower(CASE WHEN getdatabaseencoding() = 'UTF8' THEN normalize(concat_ws(' ', name, email), NFKD)
      ELSE concat_ws(' ', name, email) END),
    '[\\u0300-\\u036f]', '', 'g'),
  '[][\\s@._+,;:()<>/"''&!?|*%#$=^\`{}~-]+') term
WHERE deleted_at IS NULL AND term <> '';
CREATE INDEX account_terms_by_term ON account_terms (term, account_id);

CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  forgotten TEXT[] := '{request_id,transcription_id,language,file_name}';
BEGIN
  IF TG_OP = 'UPDATE' AND (SELECT deleted_at FROM accounts WHERE id = OLD.account_id) IS NOT NULL
    AND to_jsonb(NEW) - forgotten = to_jsonb(OLD) - forgotten THEN RETURN NEW; END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;

DROP FUNCTION place_hold;
-- 'placed', 'revoked', 'too many' of a request where as many as most_in_flight (null: no limit) are, or
-- 'insufficient', with what is available.
CREATE FUNCTION place_hold(call_id TEXT, account TEXT, by_key TEXT, request TEXT, amount BIGINT, instance TEXT,
  job TEXT, most_in_flight BIGINT, now_ms BIGINT, file TEXT DEFAULT NULL,
  OUT outcome TEXT, OUT hold BIGINT, OUT available BIGINT, OUT in_flight BIGINT)
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
  INSERT INTO holds (call, account_id, key_id, request_id, credits, instance_id, job_id, created_at, file_name)
    VALUES (call_id, account, by_key, request, amount, instance, job, now_ms, file) RETURNING id INTO hold;
  IF amount > 0 THEN
    UPDATE credit_packs SET remaining = remaining - part.credits, held = held + part.credits
      FROM unnest(packs, parts) AS part (pack_id, credits) WHERE id = part.pack_id;
    INSERT INTO hold_parts (hold_id, pack_id, credits)
      SELECT hold, part.pack_id, part.credits FROM unnest(packs, parts) AS part (pack_id, credits);
  END IF;
  outcome := 'placed';
END $$;

DROP FUNCTION create_job;
-- 'made'; 'too many' with the number of open ones; or as place_hold says; or 'no record'.
CREATE FUNCTION create_job(job TEXT, account TEXT, by_key TEXT, request TEXT, given_options TEXT,
  seconds DOUBLE PRECISION, amount BIGINT, url TEXT, secret TEXT, most_open BIGINT, record_token TEXT, told TEXT,
  now_ms BIGINT, file TEXT DEFAULT NULL,
  OUT outcome TEXT, OUT open_jobs BIGINT, OUT available BIGINT) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM accounts WHERE id = account FOR NO KEY UPDATE;
  PERFORM 1 FROM jobs WHERE id = job;
  IF FOUND THEN outcome := 'made'; RETURN; END IF;
  SELECT count(*) INTO open_jobs FROM jobs WHERE account_id = account AND status IN ('queued', 'running');
  IF open_jobs >= most_open THEN outcome := 'too many'; RETURN; END IF;
  IF record_token IS NOT NULL THEN
    PERFORM 1 FROM idempotency_records
      WHERE token = record_token AND account_id = account AND expires_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN outcome := 'no record'; RETURN; END IF;
  END IF;
  SELECT placed.outcome, placed.available INTO outcome, available
    FROM place_hold(NULL, account, by_key, request, amount, NULL, job, NULL, now_ms, file) placed;
  IF outcome <> 'placed' THEN RETURN; END IF;
  INSERT INTO jobs (id, account_id, key_id, request_id, status, options, audio_seconds, not_before, created_at,
      webhook_url, webhook_secret, file_name)
    VALUES (job, account, by_key, request, 'queued', given_options, seconds, now_ms, now_ms, url, secret, file);
  IF record_token IS NOT NULL THEN
    UPDATE idempotency_records SET instance_id = NULL, job_id = job, result = told, expires_at = now_ms + 86400000
      WHERE token = record_token;
  END IF;
  outcome := 'made';
END $$;

CREATE OR REPLACE FUNCTION charge_hold(open_hold holds, to_pay bill, settle_call_id TEXT, now_ms BIGINT)
RETURNS BIGINT LANGUAGE plpgsql AS $$
BEGIN
  PERFORM finish_parts(open_hold.id, to_pay.credits, now_ms);
  UPDATE holds SET credits = to_pay.credits, settled_at = now_ms, instance_id = NULL, job_id = NULL,
    settle_call = settle_call_id
    WHERE id = open_hold.id;
  INSERT INTO usage_events (hold_id, account_id, key_id, request_id, endpoint, audio_ms, minutes, credits, created_at,
      transcription_id, language, model)
    VALUES (open_hold.id, open_hold.account_id, open_hold.key_id, to_pay.request_id, to_pay.endpoint, to_pay.audio_ms,
      to_pay.minutes, to_pay.credits, now_ms, to_pay.transcription_id, to_pay.language, to_pay.model);
  INSERT INTO usage_days AS kept (account_id, day, endpoint, requests, minutes, credits)
    VALUES (open_hold.account_id, now_ms / 86400000, to_pay.endpoint, 1, to_pay.minutes, to_pay.credits)
    ON CONFLICT (account_id, day, endpoint) DO UPDATE SET requests = kept.requests + 1,
      minutes = kept.minutes + excluded.minutes, credits = kept.credits + excluded.credits;
  INSERT INTO usage_keys AS kept (account_id, day, key_id, model, requests, minutes, credits)
    VALUES (open_hold.account_id, now_ms / 86400000, open_hold.key_id, coalesce(to_pay.model, ''), 1, to_pay.minutes,
      to_pay.credits)
    ON CONFLICT (account_id, day, key_id, model) DO UPDATE SET requests = kept.requests + 1,
      minutes = kept.minutes + excluded.minutes, credits = kept.credits + excluded.credits;
  RETURN balance_of(open_hold.account_id, now_ms);
END $$;
`;
