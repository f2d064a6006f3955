-- The case of a run, equal for runs that decide the same again (docs/reference/runs.md#decision); null before a
-- proposal.
ALTER TABLE run_decisions ADD COLUMN case_key text;
CREATE INDEX run_decisions_case ON run_decisions (case_key, run_id);

-- The rows of earlier runs get theirs from the log.
UPDATE run_decision_cursor SET seq = 0;
