/** Usage notes the speech model that made the answer; of a deleted account, too: it names nobody. */
export const usageModels = `
ALTER TABLE usage_events ADD COLUMN model TEXT;
ALTER TYPE bill ADD ATTRIBUTE model TEXT;

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
  RETURN balance_of(open_hold.account_id, now_ms);
END $$;
`;
