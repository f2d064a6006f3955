-- A claim gives a discovered run its scenario, environment and tags after rules have counted events of it
-- (docs/reference/alerts.md#claimed-runs). `up_to` is the position of the evaluator at the claim: it has counted the
-- events up to there without them.
CREATE TABLE alert_claimed_runs (
  run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  up_to bigint NOT NULL
);

-- What earlier releases have counted has no amounts, so it cannot be counted again.
ALTER TABLE alert_cursor ADD COLUMN amounts_from bigint NOT NULL DEFAULT 0;
UPDATE alert_cursor SET amounts_from = seq;

-- A new version of the rules makes a step that has read the run before the claim read it again.
CREATE FUNCTION note_alert_claim() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM alert_rules WHERE enabled) THEN
    WITH moved AS (UPDATE alert_cursor SET rules_version = rules_version + 1 RETURNING seq)
    INSERT INTO alert_claimed_runs (run_id, up_to) SELECT NEW.id, seq FROM moved ON CONFLICT (run_id) DO NOTHING;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER runs_note_alert_claim AFTER UPDATE OF source_kind ON runs
FOR EACH ROW WHEN (OLD.source_kind = 'session-discovery' AND NEW.source_kind IS DISTINCT FROM OLD.source_kind)
EXECUTE FUNCTION note_alert_claim();
