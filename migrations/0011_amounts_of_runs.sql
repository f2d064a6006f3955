-- What each run has added to the counters of calendar periods, so that the deletion of the run can take it out again
-- (docs/reference/alerts.md#deleted-runs). Units as in alert_counters.
CREATE TABLE alert_amounts (
  run_id uuid NOT NULL,
  rule_id text NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE,
  key text NOT NULL,
  period text NOT NULL,
  part text NOT NULL,
  value double precision NOT NULL,
  n bigint NOT NULL,
  ends_at timestamptz NOT NULL,
  PRIMARY KEY (run_id, rule_id, key, period, part)
) WITH (fillfactor = 70);
CREATE INDEX alert_amounts_rule_id ON alert_amounts (rule_id);
CREATE INDEX alert_amounts_ends_at ON alert_amounts (ends_at);

-- Runs that callers have deleted. The evaluator takes their amounts out, and also those that a step which was under way
-- at the deletion has added. Retention deletes runs too: what they have spent stays spent.
CREATE TABLE alert_deleted_runs (
  run_id uuid PRIMARY KEY,
  deleted_at timestamptz NOT NULL
);

CREATE FUNCTION note_alert_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO alert_deleted_runs (run_id, deleted_at)
  SELECT DISTINCT run_id, now() FROM buried WHERE reason = 'deleted' AND EXISTS (SELECT FROM alert_rules)
  ON CONFLICT (run_id) DO UPDATE SET deleted_at = excluded.deleted_at;
  RETURN NULL;
END
$$;
CREATE TRIGGER run_tombstones_note_alert AFTER INSERT ON run_tombstones
REFERENCING NEW TABLE AS buried FOR EACH STATEMENT EXECUTE FUNCTION note_alert_deletion();
