-- The time of a run is the database's (docs/reference/events.md#time), and never goes back within a run.

-- Of the run's last event; NULL before the first.
ALTER TABLE run_heads ADD COLUMN last_ts timestamptz;
-- ;;
UPDATE run_heads h SET last_ts = (
  SELECT ts FROM canonical_events e WHERE e.run_id = h.run_id ORDER BY seq DESC LIMIT 1
);
-- ;;

-- Runs whose end was written by a process with another clock than their start took no time.
CREATE OR REPLACE VIEW run_contributions AS
SELECT r.id AS run_id, r.created_at, r.ended_at, r.status, r.archived_at IS NOT NULL AS archived, r.source_ref, r.scenario_ref,
       r.environment, CASE WHEN r.status = 'failed' THEN coalesce(nullif(r.error_code, ''), 'UNKNOWN') END AS error_code,
       coalesce(NOT decision.positive, false) AS declined, coalesce(m.total_tokens, 0)::numeric AS tokens,
       coalesce(m.estimated_cost_usd, 0)::numeric AS cost,
       CASE WHEN r.status = 'completed' AND r.ended_at < r.started_at THEN 0
            WHEN r.status = 'completed' THEN (extract(epoch FROM r.ended_at - r.started_at) * 1000000)::bigint
       END AS took,
       coalesce(h.last_index, 0) AS events
FROM runs r
LEFT JOIN run_metrics m ON m.run_id = r.id
LEFT JOIN run_heads h ON h.run_id = r.id
LEFT JOIN LATERAL (
  SELECT positive FROM event_marks
  WHERE run_id = r.id AND type = 'decision.finalized' AND r.status = 'completed' AND m.decision_count > 0
  ORDER BY seq DESC LIMIT 1
) AS decision ON true;
-- ;;
INSERT INTO tally_changes (run_id) SELECT run_id FROM tallied_runs WHERE took < 0;
-- ;;
DROP INDEX runs_duration;
-- ;;
-- Milliseconds; a run without a duration comes before all others.
CREATE INDEX runs_duration ON runs (
  (CASE WHEN ended_at < started_at THEN 0 ELSE coalesce(extract(epoch FROM ended_at - started_at) * 1000, -1) END), id
);
