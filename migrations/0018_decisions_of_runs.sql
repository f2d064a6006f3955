-- The decision of each run for lists and searches (docs/reference/runs.md#decision). The feature `decisions` follows
-- the log and writes them; the log alone decides what they are.
CREATE TABLE run_decisions (
  run_id uuid PRIMARY KEY REFERENCES runs (id),
  -- The last event that the row counts.
  seq bigint NOT NULL,
  -- Events of the run at that time, and when it was: a run with many events is read again later.
  events integer NOT NULL,
  read_at timestamptz NOT NULL,
  verdict text NOT NULL,
  -- As it is served.
  listed json NOT NULL,
  -- The options of its proposals, folded.
  options text NOT NULL,
  -- The last ballots of participants: "REJECT risk-officer".
  ballots text[] NOT NULL,
  -- Who voted against the committed outcome.
  dissenters text[] NOT NULL
);
CREATE INDEX run_decisions_verdict ON run_decisions (verdict, run_id);
CREATE INDEX run_decisions_ballots ON run_decisions USING gin (ballots) WITH (fastupdate = off);
CREATE INDEX run_decisions_dissenters ON run_decisions USING gin (dissenters) WITH (fastupdate = off);

-- The models that the agents of each run have called, the first 100.
CREATE TABLE run_models (
  run_id uuid NOT NULL REFERENCES runs (id),
  model text NOT NULL,
  PRIMARY KEY (run_id, model)
);
CREATE INDEX run_models_model ON run_models (model, run_id);

-- Runs with events that their row lacks.
CREATE TABLE run_decision_changes (
  run_id uuid PRIMARY KEY REFERENCES runs (id),
  -- The last event that changes the row.
  seq bigint NOT NULL,
  due_at timestamptz NOT NULL
);
CREATE INDEX run_decision_changes_due ON run_decision_changes (due_at);
CREATE INDEX run_decision_changes_seq ON run_decision_changes (seq);

-- How far the log has been followed: from its beginning, so the runs of earlier releases get their rows.
CREATE TABLE run_decision_cursor (seq bigint NOT NULL);
INSERT INTO run_decision_cursor VALUES (0);
