-- What reads across runs need beside the log itself: places that no late commit can come before, counts of the log by blocks,
-- and the signals, decisions and participants of runs in narrow rows, so that no overview reads the log.

-- Takes places of the one sequence of the log, ascending.
-- The readers' rule (see `gate` in 0001) needs a gate above the id of every transaction that holds a lower place. The end of a
-- snapshot alone is not that: it is the id after the last one that has ENDED, and writers that are still under way may have
-- been given higher ones. So a new id is drawn after the places and ended at once, by a subtransaction that is rolled back:
-- every snapshot from here on ends above it, and it is above the ids of all transactions that took their places before
-- (each has its id from locking its run, before it takes places).
CREATE FUNCTION allocate_event_seqs(places integer) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  seqs bigint[];
BEGIN
  SELECT array_agg(seq ORDER BY seq) INTO seqs
  FROM (SELECT nextval('event_seq') AS seq FROM generate_series(1, places)) AS taken;
  BEGIN
    -- The cheapest thing that needs a transaction id and leaves no row behind.
    PERFORM pg_logical_emit_message(true, 'runplane.gate', '');
    RAISE EXCEPTION SQLSTATE 'RP001';
  EXCEPTION WHEN SQLSTATE 'RP001' THEN
    NULL;
  END;
  RETURN seqs;
END
$$;
-- ;;

-- Counts of the log by blocks of consecutive seqs, for `total` of GET /events. A block is counted once nothing can come into it
-- any more, by whoever finds it uncounted; deleting events makes their blocks uncounted again. Appends do not touch this table.
CREATE TABLE event_blocks (
  block bigint PRIMARY KEY,
  total integer NOT NULL,
  -- Count by type.
  by_type jsonb NOT NULL,
  min_ts timestamptz,
  max_ts timestamptz
);
-- ;;

-- The signals and decisions of the log, for charts by time.
CREATE TABLE event_marks (
  run_id uuid NOT NULL,
  seq bigint NOT NULL,
  ts timestamptz NOT NULL,
  type text NOT NULL,
  -- Outcome of a decision, where it has one.
  positive boolean,
  PRIMARY KEY (run_id, seq)
);
-- ;;
CREATE INDEX event_marks_type_ts ON event_marks (type, ts) INCLUDE (run_id, positive);
-- ;;

-- Who took part in which run, and how; written under the lock of the run's head.
CREATE TABLE run_participants (
  run_id uuid NOT NULL,
  participant_id text NOT NULL,
  messages integer NOT NULL,
  signals integer NOT NULL,
  confidence_sum double precision NOT NULL,
  confidence_count integer NOT NULL,
  PRIMARY KEY (run_id, participant_id)
) WITH (fillfactor = 70);
-- ;;
CREATE INDEX runs_scenario_ref ON runs (lower(scenario_ref)) WHERE scenario_ref IS NOT NULL;
-- ;;

-- Whoever deletes events or runs need not know of the tables above.
CREATE FUNCTION forget_event_blocks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Held by every deleter until its end; who counts blocks must be alone, so no count can include what is being deleted.
  PERFORM pg_advisory_xact_lock_shared(7266422);
  DELETE FROM event_blocks WHERE block IN (SELECT DISTINCT seq / 20000 FROM deleted);
  RETURN NULL;
END
$$;
-- ;;
CREATE TRIGGER canonical_events_forget_blocks AFTER DELETE ON canonical_events
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION forget_event_blocks();
-- ;;
CREATE FUNCTION forget_run_insights() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM event_marks WHERE run_id IN (SELECT id FROM deleted);
  DELETE FROM run_participants WHERE run_id IN (SELECT id FROM deleted);
  RETURN NULL;
END
$$;
-- ;;
CREATE TRIGGER runs_forget_insights AFTER DELETE ON runs
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION forget_run_insights();
-- ;;

-- The log so far, by the rules of packages/control-plane/src/dashboard/EventTally.ts.
INSERT INTO event_marks (run_id, seq, ts, type, positive)
SELECT run_id, seq, ts, type,
       CASE event #>> '{data,decodedPayload,outcome_positive}' WHEN 'true' THEN true WHEN 'false' THEN false END
FROM canonical_events WHERE type IN ('signal.emitted', 'decision.finalized');
-- ;;
INSERT INTO run_participants (run_id, participant_id, messages, signals, confidence_sum, confidence_count)
SELECT run_id, left(participant, 512), count(*) FILTER (WHERE type = 'message.received'),
       count(*) FILTER (WHERE type = 'signal.emitted'), coalesce(sum(confidence), 0), count(confidence)
FROM (
  SELECT run_id, type,
         coalesce(nullif(event #>> '{data,sender}', ''),
                  CASE WHEN event #>> '{subject,kind}' = 'participant' THEN nullif(event #>> '{subject,id}', '') END) AS participant,
         CASE WHEN type = 'signal.emitted' AND json_typeof(event #> '{data,decodedPayload,confidence}') = 'number'
              THEN (event #>> '{data,decodedPayload,confidence}')::double precision END AS confidence
  FROM canonical_events
) AS seen
WHERE participant IS NOT NULL
GROUP BY 1, 2;
