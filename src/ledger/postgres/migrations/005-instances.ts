/** Servers that live on the database, and what is given back of those that do not any more. */
export const instances = `
-- Gives back what a server holds, and forgets it. Its caller has locked it.
CREATE FUNCTION bury(dead TEXT, now_ms BIGINT, OUT holds BIGINT, OUT credits BIGINT, OUT records BIGINT)
  LANGUAGE plpgsql AS $$
DECLARE
  open_hold BIGINT;
BEGIN
  holds := 0;
  credits := 0;
  PERFORM 1 FROM holds h WHERE h.instance_id = dead AND h.settled_at IS NULL ORDER BY h.id FOR UPDATE;
  PERFORM 1 FROM holds h JOIN hold_parts p ON p.hold_id = h.id JOIN credit_packs pack ON pack.id = p.pack_id
    WHERE h.instance_id = dead AND h.settled_at IS NULL
    ORDER BY pack.account_id, pack.expires_at, pack.created_at, pack.id FOR UPDATE OF pack;
  FOR open_hold IN SELECT h.id FROM holds h WHERE h.instance_id = dead AND h.settled_at IS NULL ORDER BY h.id LOOP
    holds := holds + 1;
    credits := credits + release_hold(open_hold, NULL, now_ms);
  END LOOP;
  DELETE FROM idempotency_records WHERE instance_id = dead;
  GET DIAGNOSTICS records = ROW_COUNT;
  UPDATE jobs SET status = 'queued', instance_id = NULL, lease_expires_at = NULL, started_at = NULL, done_seconds = 0
    WHERE instance_id = dead;
  UPDATE webhook_events SET instance_id = NULL, lease_expires_at = NULL WHERE instance_id = dead;
  DELETE FROM instances WHERE id = dead;
END $$;

-- Buries the servers whose lease has lapsed.
CREATE FUNCTION reap(own TEXT, now_ms BIGINT, OUT holds BIGINT, OUT credits BIGINT, OUT records BIGINT)
  LANGUAGE plpgsql AS $$
DECLARE
  dead TEXT;
  buried RECORD;
BEGIN
  holds := 0;
  credits := 0;
  records := 0;
  FOR dead IN SELECT id FROM instances WHERE lease_expires_at <= now_ms AND id <> own ORDER BY id
    FOR UPDATE SKIP LOCKED LOOP
    SELECT * INTO buried FROM bury(dead, now_ms);
    holds := holds + buried.holds;
    credits := credits + buried.credits;
    records := records + buried.records;
  END LOOP;
END $$;
`;
