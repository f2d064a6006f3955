-- Sums say when they were changed last, so that whoever remembers what is in them knows whether it is still right
-- (docs/reference/events.md#tallies).

CREATE SEQUENCE tally_version;
-- ;;
-- Of the change, ascending: changes are made one after the other.
ALTER TABLE run_tallies ADD COLUMN version bigint NOT NULL DEFAULT 0;
-- ;;
-- Adds the remembered contributions of these runs to the sums, or takes them away (`sign` -1).
CREATE OR REPLACE FUNCTION add_to_tallies(ids uuid[], sign integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  change bigint := nextval('tally_version');
BEGIN
  INSERT INTO run_tallies AS known
  SELECT axis.name, unit, date_trunc(unit, axis.at, 'UTC'),
         md5(row(t.source_ref, t.scenario_ref, t.environment, t.error_code)::text)::uuid, t.source_ref, t.scenario_ref,
         t.environment, t.error_code, sign * count(*), sign * count(*) FILTER (WHERE t.status = 'completed'),
         sign * count(*) FILTER (WHERE t.status = 'failed'), sign * count(*) FILTER (WHERE t.status = 'cancelled'),
         sign * count(*) FILTER (WHERE t.declined), sign * sum(t.tokens), sign * sum(t.cost),
         sign * coalesce(sum(t.took), 0), sign * count(t.took), change
  FROM tallied_runs t
  CROSS JOIN LATERAL (VALUES ('created', t.created_at), ('ended', t.ended_at)) AS axis (name, at)
  CROSS JOIN unnest(ARRAY['minute', 'hour', 'day']) AS unit
  WHERE t.run_id = ANY(ids) AND axis.at IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ON CONFLICT (axis, unit, at, kind) DO UPDATE
  SET runs = known.runs + excluded.runs, completed = known.completed + excluded.completed,
      failed = known.failed + excluded.failed, cancelled = known.cancelled + excluded.cancelled,
      declined = known.declined + excluded.declined, tokens = known.tokens + excluded.tokens,
      cost = known.cost + excluded.cost, took = known.took + excluded.took, timed = known.timed + excluded.timed,
      version = excluded.version;
  INSERT INTO run_totals AS known
  SELECT status, archived, sign * count(*) FROM tallied_runs WHERE run_id = ANY(ids) GROUP BY 1, 2
  ON CONFLICT (status, archived) DO UPDATE SET runs = known.runs + excluded.runs;
END
$$;
