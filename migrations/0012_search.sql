-- What searches over runs need beside their rows (docs/reference/http.md#query): labels of the metadata, the figures of
-- ended runs by index, and indexes of columns that were only read so far.

-- The texts, numbers and flags of a run's metadata, by their dotted names. Not of what the service puts there itself:
-- the descriptor, and the cancel callback, which holds a secret. Bounded, so that an index can hold any of them.
CREATE FUNCTION labels_of(metadata json) RETURNS TABLE (name text, value text) LANGUAGE sql IMMUTABLE AS $$
  WITH RECURSIVE part AS (
    SELECT key AS name, value, 1 AS depth FROM json_each(metadata) WHERE key NOT IN ('executionRequest', 'cancelCallback')
    UNION ALL
    SELECT part.name || coalesce('.' || inside.key, ''), inside.value, depth + 1
    FROM part CROSS JOIN LATERAL (
      SELECT key, value FROM json_each(CASE json_typeof(part.value) WHEN 'object' THEN part.value ELSE '{}' END)
      UNION ALL
      SELECT NULL, value FROM json_array_elements(CASE json_typeof(part.value) WHEN 'array' THEN part.value ELSE '[]' END)
    ) AS inside
    WHERE depth < 5
  )
  SELECT DISTINCT left(name, 200), left(value #>> '{}', 400) FROM part
  WHERE json_typeof(value) NOT IN ('object', 'array', 'null') LIMIT 100
$$;
-- ;;
CREATE TABLE run_labels (
  run_id uuid NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  name text NOT NULL,
  value text NOT NULL
);
-- ;;
INSERT INTO run_labels SELECT r.id, l.name, l.value FROM runs r CROSS JOIN LATERAL labels_of(r.metadata) AS l;
-- ;;
CREATE INDEX run_labels_run ON run_labels (run_id);
-- ;;
CREATE INDEX run_labels_value ON run_labels (name, value, run_id);
-- ;;
CREATE FUNCTION label_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM run_labels WHERE run_id = NEW.id;
  END IF;
  INSERT INTO run_labels SELECT NEW.id, l.name, l.value FROM labels_of(NEW.metadata) AS l;
  RETURN NULL;
END
$$;
-- ;;
CREATE TRIGGER runs_label AFTER INSERT ON runs FOR EACH ROW EXECUTE FUNCTION label_run();
-- ;;
CREATE TRIGGER runs_label_again AFTER UPDATE OF metadata ON runs
FOR EACH ROW WHEN (OLD.metadata::text IS DISTINCT FROM NEW.metadata::text) EXECUTE FUNCTION label_run();
-- ;;

CREATE INDEX runs_trace_id ON runs (trace_id);
-- ;;
CREATE INDEX runs_policy_version ON runs (policy_version) WHERE policy_version IS NOT NULL;
-- ;;
CREATE INDEX runs_error_code ON runs (error_code) WHERE error_code IS NOT NULL;
-- ;;
-- Milliseconds; a run without a duration stands before all others.
CREATE INDEX runs_duration ON runs ((coalesce(extract(epoch FROM ended_at - started_at) * 1000, -1)), id);
-- ;;
CREATE INDEX run_participants_participant ON run_participants (participant_id, run_id);
-- ;;

-- Figures of ended runs change rarely, those of the others with every append: only the former are worth an index.
ALTER TABLE tallied_runs ADD COLUMN events integer NOT NULL DEFAULT 0;
-- ;;
UPDATE tallied_runs t SET events = h.last_index FROM run_heads h WHERE h.run_id = t.run_id;
-- ;;
CREATE INDEX tallied_runs_tokens ON tallied_runs (tokens, run_id);
-- ;;
CREATE INDEX tallied_runs_cost ON tallied_runs (cost, run_id);
-- ;;
CREATE INDEX tallied_runs_events ON tallied_runs (events, run_id);
-- ;;
CREATE OR REPLACE VIEW run_contributions AS
SELECT r.id AS run_id, r.created_at, r.ended_at, r.status, r.archived_at IS NOT NULL AS archived, r.source_ref, r.scenario_ref,
       r.environment, CASE WHEN r.status = 'failed' THEN coalesce(nullif(r.error_code, ''), 'UNKNOWN') END AS error_code,
       coalesce(NOT decision.positive, false) AS declined, coalesce(m.total_tokens, 0)::numeric AS tokens,
       coalesce(m.estimated_cost_usd, 0)::numeric AS cost,
       CASE WHEN r.status = 'completed' THEN (extract(epoch FROM r.ended_at - r.started_at) * 1000000)::bigint END AS took,
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

-- Figures of the runs that do not stand in `tallied_runs` as they are now.
CREATE VIEW moving_figures AS
SELECT r.id AS run_id, coalesce(m.total_tokens, 0)::numeric AS tokens, coalesce(m.estimated_cost_usd, 0)::numeric AS cost,
       coalesce(h.last_index, 0) AS events
FROM (
  SELECT id FROM runs WHERE status IN ('queued', 'starting', 'binding_session', 'running', 'suspended')
  UNION
  SELECT run_id FROM tally_changes
) AS moving
JOIN runs r USING (id)
LEFT JOIN run_metrics m ON m.run_id = r.id
LEFT JOIN run_heads h ON h.run_id = r.id;
-- ;;
-- Figures of all runs, as they are now.
CREATE VIEW run_figures AS
SELECT run_id, tokens, cost, events FROM tallied_runs t
WHERE NOT EXISTS (SELECT FROM tally_changes c WHERE c.run_id = t.run_id)
UNION ALL
SELECT run_id, tokens, cost, events FROM moving_figures;
