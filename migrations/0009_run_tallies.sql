-- Sums over runs and marks by time, so that no overview and no count of runs reads them one by one
-- (docs/reference/events.md#tallies). Ended runs do not change any more, but for the rare late event: they are added up
-- once, by `fold_tallies`, and remembered with what they were added up as. Whoever changes an ended run, or deletes it,
-- leaves its id in `tally_changes`. A reader takes the sums, what has been left there since, and the runs that have not
-- ended; so its answer is exact at any moment, however late the folding is, and no append waits for a row that another
-- one has changed.

CREATE TABLE tally_changes (run_id uuid NOT NULL);
-- ;;
-- An ended run, as it stands in the sums.
CREATE TABLE tallied_runs (
  run_id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  status text NOT NULL,
  archived boolean NOT NULL,
  source_ref text,
  scenario_ref text,
  environment text,
  -- Of a failed run.
  error_code text,
  -- Whether its last decision was negative; of a completed run.
  declined boolean NOT NULL,
  tokens numeric NOT NULL,
  -- US dollars.
  cost numeric NOT NULL,
  -- Microseconds from its start to its end; of a completed run that has both times.
  took bigint
);
-- ;;
CREATE INDEX tallied_runs_created_at ON tallied_runs (created_at) INCLUDE (ended_at, took);
-- ;;
CREATE INDEX tallied_runs_ended_at ON tallied_runs (ended_at);
-- ;;
-- What belongs to one source, scenario, environment and error (`kind`, a digest of them) within one minute, hour or day
-- of UTC: the ended runs that were created (axis `created`), or that ended (axis `ended`), in it.
CREATE TABLE run_tallies (
  axis text NOT NULL,
  unit text NOT NULL,
  at timestamptz NOT NULL,
  kind uuid NOT NULL,
  source_ref text,
  scenario_ref text,
  environment text,
  error_code text,
  runs integer NOT NULL,
  completed integer NOT NULL,
  failed integer NOT NULL,
  cancelled integer NOT NULL,
  declined integer NOT NULL,
  tokens numeric NOT NULL,
  cost numeric NOT NULL,
  took numeric NOT NULL,
  timed integer NOT NULL,
  PRIMARY KEY (axis, unit, at, kind)
) WITH (fillfactor = 70);
-- ;;
CREATE INDEX run_tallies_empty ON run_tallies (at) WHERE runs = 0;
-- ;;
CREATE TABLE run_totals (
  status text NOT NULL,
  archived boolean NOT NULL,
  runs bigint NOT NULL,
  PRIMARY KEY (status, archived)
);
-- ;;
-- Signals and decisions of the log up to `tallied_marks.seq`, by minute, hour and day.
CREATE TABLE mark_tallies (
  unit text NOT NULL,
  at timestamptz NOT NULL,
  signals bigint NOT NULL,
  decisions bigint NOT NULL,
  positive bigint NOT NULL,
  negative bigint NOT NULL,
  PRIMARY KEY (unit, at)
) WITH (fillfactor = 70);
-- ;;
CREATE TABLE tallied_marks (seq bigint NOT NULL);
-- ;;
INSERT INTO tallied_marks VALUES (0);
-- ;;
CREATE INDEX event_marks_seq ON event_marks (seq);
-- ;;
-- Marks in the sums whose run has been deleted since.
CREATE TABLE removed_marks (ts timestamptz NOT NULL, type text NOT NULL, positive boolean);
-- ;;
CREATE INDEX runs_open_created_at ON runs (created_at)
WHERE status IN ('queued', 'starting', 'binding_session', 'running', 'suspended');
-- ;;

-- What a run adds to the sums as it is now, ended or not.
CREATE VIEW run_contributions AS
SELECT r.id AS run_id, r.created_at, r.ended_at, r.status, r.archived_at IS NOT NULL AS archived, r.source_ref, r.scenario_ref,
       r.environment, CASE WHEN r.status = 'failed' THEN coalesce(nullif(r.error_code, ''), 'UNKNOWN') END AS error_code,
       coalesce(NOT decision.positive, false) AS declined, coalesce(m.total_tokens, 0)::numeric AS tokens,
       coalesce(m.estimated_cost_usd, 0)::numeric AS cost,
       CASE WHEN r.status = 'completed' THEN (extract(epoch FROM r.ended_at - r.started_at) * 1000000)::bigint END AS took
FROM runs r
LEFT JOIN run_metrics m ON m.run_id = r.id
LEFT JOIN LATERAL (
  SELECT positive FROM event_marks
  WHERE run_id = r.id AND type = 'decision.finalized' AND r.status = 'completed' AND m.decision_count > 0
  ORDER BY seq DESC LIMIT 1
) AS decision ON true;
-- ;;

CREATE FUNCTION note_changed_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tally_changes (run_id) VALUES (NEW.id);
  RETURN NULL;
END
$$;
-- ;;
CREATE TRIGGER runs_note_change AFTER INSERT OR UPDATE OF status, archived_at, source_ref, scenario_ref, environment ON runs
FOR EACH ROW WHEN (NEW.status IN ('completed', 'failed', 'cancelled')) EXECUTE FUNCTION note_changed_run();
-- ;;
CREATE OR REPLACE FUNCTION forget_run_insights() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The lock of `fold_tallies`, shared: while it is held, marks do not get into the sums behind our back.
  PERFORM pg_advisory_xact_lock_shared(7266422);
  INSERT INTO tally_changes (run_id) SELECT id FROM deleted;
  WITH gone AS (DELETE FROM event_marks WHERE run_id IN (SELECT id FROM deleted) RETURNING seq, ts, type, positive)
  INSERT INTO removed_marks (ts, type, positive)
  SELECT ts, type, positive FROM gone WHERE seq <= (SELECT seq FROM tallied_marks);
  DELETE FROM run_participants WHERE run_id IN (SELECT id FROM deleted);
  RETURN NULL;
END
$$;
-- ;;

-- Adds the remembered contributions of these runs to the sums, or takes them away (`sign` -1).
CREATE FUNCTION add_to_tallies(ids uuid[], sign integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_tallies AS known
  SELECT axis.name, unit, date_trunc(unit, axis.at, 'UTC'),
         md5(row(t.source_ref, t.scenario_ref, t.environment, t.error_code)::text)::uuid, t.source_ref, t.scenario_ref,
         t.environment, t.error_code, sign * count(*), sign * count(*) FILTER (WHERE t.status = 'completed'),
         sign * count(*) FILTER (WHERE t.status = 'failed'), sign * count(*) FILTER (WHERE t.status = 'cancelled'),
         sign * count(*) FILTER (WHERE t.declined), sign * sum(t.tokens), sign * sum(t.cost),
         sign * coalesce(sum(t.took), 0), sign * count(t.took)
  FROM tallied_runs t
  CROSS JOIN LATERAL (VALUES ('created', t.created_at), ('ended', t.ended_at)) AS axis (name, at)
  CROSS JOIN unnest(ARRAY['minute', 'hour', 'day']) AS unit
  WHERE t.run_id = ANY(ids) AND axis.at IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ON CONFLICT (axis, unit, at, kind) DO UPDATE
  SET runs = known.runs + excluded.runs, completed = known.completed + excluded.completed,
      failed = known.failed + excluded.failed, cancelled = known.cancelled + excluded.cancelled,
      declined = known.declined + excluded.declined, tokens = known.tokens + excluded.tokens,
      cost = known.cost + excluded.cost, took = known.took + excluded.took, timed = known.timed + excluded.timed;
  INSERT INTO run_totals AS known
  SELECT status, archived, sign * count(*) FROM tallied_runs WHERE run_id = ANY(ids) GROUP BY 1, 2
  ON CONFLICT (status, archived) DO UPDATE SET runs = known.runs + excluded.runs;
END
$$;
-- ;;

-- Brings the sums up to what is committed, so many changed runs at a time; answers whether that was all. Does nothing,
-- and answers true, while another process does the same or somebody deletes events.
CREATE FUNCTION fold_tallies(most integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  changed uuid[];
  folded bigint;
  watermark bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7266422) THEN
    RETURN true;
  END IF;
  WITH taken AS (
    DELETE FROM tally_changes WHERE ctid = ANY(ARRAY(SELECT ctid FROM tally_changes LIMIT most)) RETURNING run_id
  )
  SELECT array_agg(DISTINCT run_id) INTO changed FROM taken;
  IF changed IS NOT NULL THEN
    PERFORM add_to_tallies(changed, -1);
    DELETE FROM tallied_runs WHERE run_id = ANY(changed);
    INSERT INTO tallied_runs
    SELECT * FROM run_contributions WHERE run_id = ANY(changed) AND status IN ('completed', 'failed', 'cancelled');
    PERFORM add_to_tallies(changed, 1);
    DELETE FROM run_tallies WHERE runs = 0;
  END IF;

  SELECT seq INTO folded FROM tallied_marks;
  watermark := event_watermark();
  INSERT INTO mark_tallies AS known
  SELECT unit, date_trunc(unit, m.ts, 'UTC'), coalesce(sum(sign) FILTER (WHERE m.type = 'signal.emitted'), 0),
         coalesce(sum(sign) FILTER (WHERE m.type = 'decision.finalized'), 0), coalesce(sum(sign) FILTER (WHERE m.positive), 0),
         coalesce(sum(sign) FILTER (WHERE NOT m.positive), 0)
  FROM (
    SELECT 1 AS sign, ts, type, positive FROM event_marks WHERE seq > folded AND seq <= watermark
    UNION ALL
    SELECT -1, ts, type, positive FROM removed_marks
  ) AS m CROSS JOIN unnest(ARRAY['minute', 'hour', 'day']) AS unit
  GROUP BY 1, 2
  ON CONFLICT (unit, at) DO UPDATE
  SET signals = known.signals + excluded.signals, decisions = known.decisions + excluded.decisions,
      positive = known.positive + excluded.positive, negative = known.negative + excluded.negative;
  DELETE FROM removed_marks;
  UPDATE tallied_marks SET seq = watermark WHERE seq < watermark;
  RETURN changed IS NULL OR cardinality(changed) < most;
END
$$;
-- ;;

-- How many runs there are of a status, or of any (null), with the archived ones or without.
CREATE FUNCTION count_runs(wanted text, with_archived boolean) RETURNS bigint LANGUAGE sql STABLE AS $$
  WITH pending AS MATERIALIZED (SELECT DISTINCT run_id FROM tally_changes)
  SELECT coalesce((
      SELECT sum(t.runs) FROM run_totals t
      WHERE (wanted IS NULL OR t.status = wanted) AND (with_archived OR NOT t.archived)
    ), 0)::bigint - (
      SELECT count(*) FROM pending JOIN tallied_runs t USING (run_id)
      WHERE (wanted IS NULL OR t.status = wanted) AND (with_archived OR NOT t.archived)
    ) + (
      SELECT count(*) FROM pending JOIN runs r ON r.id = pending.run_id
      WHERE r.status IN ('completed', 'failed', 'cancelled') AND (wanted IS NULL OR r.status = wanted)
        AND (with_archived OR r.archived_at IS NULL)
    ) + (
      SELECT count(*) FROM runs r
      WHERE r.status IN ('queued', 'starting', 'binding_session', 'running', 'suspended')
        AND (wanted IS NULL OR r.status = wanted) AND (with_archived OR r.archived_at IS NULL)
    )
$$;
-- ;;

-- The runs and marks so far.
INSERT INTO tally_changes (run_id) SELECT id FROM runs WHERE status IN ('completed', 'failed', 'cancelled');
-- ;;
DO $$ BEGIN WHILE NOT fold_tallies(100000) LOOP NULL; END LOOP; END $$;
