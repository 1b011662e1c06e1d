/** Jobs and the events at their end: taken with SKIP LOCKED, so that servers do not wait for each other. */
export const jobFunctions = `
-- 'made'; 'too many' with the number of open ones; or as place_hold says; or 'no record'.
CREATE FUNCTION create_job(job TEXT, account TEXT, by_key TEXT, request TEXT, given_options TEXT,
  seconds DOUBLE PRECISION,
  amount BIGINT, url TEXT, secret TEXT, most_open BIGINT, record_token TEXT, told TEXT, now_ms BIGINT,
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
    FROM place_hold(NULL, account, by_key, request, amount, NULL, job, NULL, now_ms) placed;
  IF outcome <> 'placed' THEN RETURN; END IF;
  INSERT INTO jobs (id, account_id, key_id, request_id, status, options, audio_seconds, not_before, created_at,
      webhook_url, webhook_secret)
    VALUES (job, account, by_key, request, 'queued', given_options, seconds, now_ms, now_ms, url, secret);
  IF record_token IS NOT NULL THEN
    UPDATE idempotency_records SET instance_id = NULL, job_id = job, result = told, expires_at = now_ms + 86400000
      WHERE token = record_token;
  END IF;
  outcome := 'made';
END $$;

-- The job as it was found, which is taken now; no row: there is none to be taken.
CREATE FUNCTION take_job(instance TEXT, most_per_account BIGINT, lease_ms BIGINT, now_ms BIGINT) RETURNS SETOF jobs
LANGUAGE plpgsql AS $$
DECLARE
  next_job jobs;
  full_accounts TEXT[] := '{}';
BEGIN
  LOOP
    SELECT job.* INTO next_job FROM jobs job
      LEFT JOIN (SELECT account_id, count(*) AS jobs FROM jobs WHERE status = 'running' AND lease_expires_at > now_ms
        GROUP BY account_id) at_work ON at_work.account_id = job.account_id
      WHERE ((status = 'queued' AND not_before <= now_ms) OR (status = 'running' AND lease_expires_at <= now_ms))
        AND coalesce(at_work.jobs, 0) < most_per_account AND job.account_id <> ALL (full_accounts)
      ORDER BY coalesce(at_work.jobs, 0), job.created_at, job.id LIMIT 1 FOR UPDATE OF job SKIP LOCKED;
    IF NOT FOUND THEN RETURN; END IF;
    -- Counted once more when no other server can take one of the account's.
    PERFORM 1 FROM accounts WHERE id = next_job.account_id FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM jobs WHERE account_id = next_job.account_id AND status = 'running'
        AND lease_expires_at > now_ms) < most_per_account THEN
      UPDATE jobs SET status = 'running', instance_id = instance, lease_expires_at = now_ms + lease_ms,
        attempts = attempts + 1,
        started_at = coalesce(started_at, now_ms), done_seconds = 0 WHERE id = next_job.id;
      RETURN NEXT next_job;
      RETURN;
    END IF;
    full_accounts := full_accounts || next_job.account_id;
  END LOOP;
END $$;

-- Ends a job that its caller has locked, and makes the event that tells of it.
CREATE FUNCTION end_job(job TEXT, how TEXT, charged_hold BIGINT, stored_result TEXT, remaining BIGINT, why TEXT,
  event TEXT,
  now_ms BIGINT) RETURNS void LANGUAGE sql AS $$
  UPDATE jobs SET status = how, instance_id = NULL, lease_expires_at = NULL, finished_at = now_ms,
      done_seconds = CASE WHEN how = 'succeeded' THEN audio_seconds ELSE done_seconds END,
      hold_id = charged_hold, result = stored_result, credits_remaining = remaining, error = why
    WHERE id = job;
  INSERT INTO webhook_events (id, job_id, account_id, created_at, due_at, give_up_at)
    SELECT event, id, account_id, now_ms, now_ms, now_ms + 86400000 FROM jobs WHERE id = job
      AND webhook_url IS NOT NULL;
$$;

-- Whether a lease has ended its job already, by a call whose answer did not arrive.
CREATE FUNCTION has_ended(job TEXT, attempt BIGINT, how TEXT) RETURNS BOOLEAN LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM jobs WHERE id = job AND attempts = attempt AND status = how)
$$;

-- 'ended', 'lapsed' or 'revoked'. Charges at most what is held.
CREATE FUNCTION succeed_job(job TEXT, attempt BIGINT, instance TEXT, to_pay bill, event TEXT, repeated BOOLEAN,
  now_ms BIGINT)
RETURNS TEXT
LANGUAGE plpgsql AS $$
DECLARE
  mine jobs;
  open_hold holds;
  remaining BIGINT;
BEGIN
  SELECT * INTO mine FROM jobs
    WHERE id = job AND status = 'running' AND instance_id = instance AND attempts = attempt FOR UPDATE;
  IF NOT FOUND THEN
    RETURN CASE WHEN repeated AND has_ended(job, attempt, 'succeeded') THEN 'ended' ELSE 'lapsed' END;
  END IF;
  SELECT * INTO STRICT open_hold FROM holds WHERE job_id = job FOR UPDATE;
  IF NOT key_is_live(open_hold.key_id, open_hold.account_id) THEN RETURN 'revoked'; END IF;
  to_pay.credits := least(to_pay.credits, open_hold.credits);
  to_pay.request_id := mine.request_id;
  remaining := charge_hold(open_hold, to_pay, NULL, now_ms);
  PERFORM end_job(job, 'succeeded', open_hold.id, to_pay.result, remaining, NULL, event, now_ms);
  RETURN 'ended';
END $$;

-- 'ended' or 'lapsed'.
CREATE FUNCTION fail_job(job TEXT, attempt BIGINT, instance TEXT, why TEXT, event TEXT, repeated BOOLEAN, now_ms BIGINT)
RETURNS TEXT LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM jobs WHERE id = job AND status = 'running' AND instance_id = instance AND attempts = attempt
    FOR UPDATE;
  IF NOT FOUND THEN
    RETURN CASE WHEN repeated AND has_ended(job, attempt, 'failed') THEN 'ended' ELSE 'lapsed' END;
  END IF;
  PERFORM release_hold((SELECT id FROM holds WHERE job_id = job), NULL, now_ms);
  PERFORM end_job(job, 'failed', NULL, NULL, NULL, why, event, now_ms);
  RETURN 'ended';
END $$;

-- Ends a job that has not ended, and forgets one that has; the row is the job as it is then, or was. No row: there is
-- none such.
CREATE FUNCTION cancel_or_forget_job(account TEXT, job TEXT, event TEXT, now_ms BIGINT) RETURNS SETOF jobs
  LANGUAGE plpgsql AS $$
DECLARE
  found_job jobs;
BEGIN
  SELECT * INTO found_job FROM jobs WHERE id = job AND account_id = account FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  IF found_job.finished_at IS NOT NULL THEN
    DELETE FROM jobs WHERE id = job;
    RETURN NEXT found_job;
    RETURN;
  END IF;
  PERFORM release_hold((SELECT id FROM holds WHERE job_id = job), NULL, now_ms);
  PERFORM end_job(job, 'cancelled', NULL, NULL, NULL, NULL, event, now_ms);
  RETURN QUERY SELECT * FROM jobs WHERE id = job;
END $$;

-- The event as it was found, which is taken now.
CREATE FUNCTION take_event(instance TEXT, most_per_account BIGINT, lease_ms BIGINT, now_ms BIGINT)
  RETURNS SETOF webhook_events
LANGUAGE plpgsql AS $$
DECLARE
  next_event webhook_events;
  full_accounts TEXT[] := '{}';
BEGIN
  LOOP
    SELECT event.* INTO next_event FROM webhook_events event
      WHERE due_at <= now_ms AND (lease_expires_at IS NULL OR lease_expires_at <= now_ms)
        AND event.account_id <> ALL (full_accounts)
      ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN RETURN; END IF;
    PERFORM 1 FROM accounts WHERE id = next_event.account_id FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM webhook_events WHERE account_id = next_event.account_id AND instance_id IS NOT NULL
        AND lease_expires_at > now_ms) < most_per_account THEN
      UPDATE webhook_events SET instance_id = instance, lease_expires_at = now_ms + lease_ms, attempts = attempts + 1
        WHERE id = next_event.id;
      RETURN NEXT next_event;
      RETURN;
    END IF;
    full_accounts := full_accounts || next_event.account_id;
  END LOOP;
END $$;
`;
