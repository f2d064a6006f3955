-- One rule for the scenario of a run (docs/reference/runs.md#scenario), the same as `scenarioOf` in
-- packages/domain/src/Scenario.ts.
CREATE FUNCTION scenario_of(runtime_kind text, scenario_ref text, source_ref text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
  CASE WHEN runtime_kind = 'otlp' THEN coalesce(nullif(scenario_ref, ''), nullif(source_ref, ''))
       ELSE coalesce(nullif(source_ref, ''), nullif(scenario_ref, '')) END;

CREATE INDEX runs_scenario ON runs (scenario_of(runtime_kind, scenario_ref, source_ref));

-- Sums are kept by source and scenario reference. `scenario` is null where the scenario is the first of both: rows of
-- older versions stay right.
ALTER TABLE tallied_runs ADD COLUMN scenario text;
ALTER TABLE run_tallies ADD COLUMN scenario text;

-- As before, with `scenario`.
CREATE OR REPLACE VIEW run_contributions AS
SELECT r.id AS run_id, r.created_at, r.ended_at, r.status, r.archived_at IS NOT NULL AS archived, r.source_ref,
       r.scenario_ref, r.environment,
       CASE WHEN r.status = 'failed' THEN coalesce(nullif(r.error_code, ''), 'UNKNOWN') END AS error_code,
       coalesce(NOT decision.positive, false) AS declined, coalesce(m.total_tokens, 0)::numeric AS tokens,
       coalesce(m.estimated_cost_usd, 0)::numeric AS cost,
       CASE WHEN r.status = 'completed' AND r.ended_at < r.started_at THEN 0
            WHEN r.status = 'completed' THEN (extract(epoch FROM r.ended_at - r.started_at) * 1000000)::bigint
       END AS took,
       coalesce(h.last_index, 0) AS events, coalesce(m.guessed_cost_usd, 0)::numeric AS guessed,
       nullif(scenario_of(r.runtime_kind, r.scenario_ref, r.source_ref), coalesce(r.source_ref, r.scenario_ref)) AS scenario
FROM runs r
LEFT JOIN run_metrics m ON m.run_id = r.id
LEFT JOIN run_heads h ON h.run_id = r.id
LEFT JOIN LATERAL (
  SELECT positive FROM key_events
  WHERE run_id = r.id AND type = 'decision.finalized' AND r.status = 'completed' AND m.decision_count > 0
  ORDER BY seq DESC LIMIT 1
) AS decision ON true;

-- As before, with `scenario`.
CREATE OR REPLACE FUNCTION add_to_tallies(ids uuid[], sign integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  change bigint := nextval('tally_version');
BEGIN
  INSERT INTO run_tallies AS known (axis, unit, at, kind, source_ref, scenario_ref, environment, error_code, runs,
                                    completed, failed, cancelled, declined, tokens, cost, guessed, took, timed,
                                    version, scenario)
  SELECT axis.name, unit, date_trunc(unit, axis.at, 'UTC'),
         md5(CASE WHEN t.scenario IS NULL
                  THEN row(t.source_ref, t.scenario_ref, t.environment, t.error_code)::text
                  ELSE row(t.source_ref, t.scenario_ref, t.environment, t.error_code, t.scenario)::text END)::uuid,
         t.source_ref, t.scenario_ref, t.environment, t.error_code, sign * count(*), sign * count(*) FILTER (WHERE t.status = 'completed'),
         sign * count(*) FILTER (WHERE t.status = 'failed'), sign * count(*) FILTER (WHERE t.status = 'cancelled'),
         sign * count(*) FILTER (WHERE t.declined), sign * sum(t.tokens), sign * sum(t.cost),
         sign * sum(t.guessed), sign * coalesce(sum(t.took), 0), sign * count(t.took), change, t.scenario
  FROM tallied_runs t
  CROSS JOIN LATERAL (VALUES ('created', t.created_at), ('ended', t.ended_at)) AS axis (name, at)
  CROSS JOIN unnest(ARRAY['minute', 'hour', 'day']) AS unit
  WHERE t.run_id = ANY(ids) AND axis.at IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, t.scenario
  ON CONFLICT (axis, unit, at, kind) DO UPDATE
  SET runs = known.runs + excluded.runs, completed = known.completed + excluded.completed,
      failed = known.failed + excluded.failed, cancelled = known.cancelled + excluded.cancelled,
      declined = known.declined + excluded.declined, tokens = known.tokens + excluded.tokens,
      cost = known.cost + excluded.cost, guessed = known.guessed + excluded.guessed, took = known.took + excluded.took, timed = known.timed + excluded.timed,
      version = excluded.version;
  INSERT INTO run_totals AS known
  SELECT status, archived, sign * count(*) FROM tallied_runs WHERE run_id = ANY(ids) GROUP BY 1, 2
  ON CONFLICT (status, archived) DO UPDATE SET runs = known.runs + excluded.runs;
END
$$;

-- Runs of OpenTelemetry with both references were counted under their service.
INSERT INTO tally_changes (run_id)
SELECT id FROM runs WHERE runtime_kind = 'otlp' AND source_ref <> scenario_ref
  AND status IN ('completed', 'failed', 'cancelled');
