-- What is not whole, and what is still owed, once a session comes later than its run.

-- Whether envelopes of the run are known to be missing from its log.
ALTER TABLE runs ADD COLUMN history_gap boolean NOT NULL DEFAULT false;
-- ;;
UPDATE runs SET history_gap = true
WHERE id IN (SELECT run_id FROM canonical_events
             WHERE type = 'session.stream.opened' AND event #>> '{data,status}' = 'gap');
-- ;;

-- Runs that were cancelled before their session opened: it is stopped when it opens, up to this time.
CREATE TABLE late_cancels (
  run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  reason text NOT NULL,
  until timestamptz NOT NULL
);
