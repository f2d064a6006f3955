-- Reads across runs wait for our own appends only. Until now they waited for every writing transaction of the database server
-- (`gate` in 0001), also for those of other databases and for transactions that never append.

-- Appends that hold places, or are past the line that the next statement draws, have locked heads of runs. Once this lock is
-- ours all of them have ended; those that come later find the new function.
LOCK TABLE run_heads IN EXCLUSIVE MODE;
-- ;;
-- A process of the version before may still write it while the others are new already; nobody reads it any more.
ALTER TABLE canonical_events ALTER COLUMN gate DROP NOT NULL;
-- ;;

-- Takes places of the one sequence of the log, ascending. Before that it takes a lock that says "this transaction holds no place
-- up to here", which ends with the transaction: with its commit or rollback, or with its server process. Shared, so that nobody
-- ever waits for it. The lock's key has room for 32 bits of the place; the rest follows from where the sequence is (see below).
CREATE OR REPLACE FUNCTION allocate_event_seqs(places integer) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  seqs bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock_shared(
            7266423, (((CASE WHEN is_called THEN last_value ELSE 0 END + 2147483648) & 4294967295) - 2147483648)::integer)
  FROM event_seq;
  SELECT array_agg(seq ORDER BY seq) INTO seqs
  FROM (SELECT nextval('event_seq') AS seq FROM generate_series(1, places)) AS taken;
  RETURN seqs;
END
$$;
-- ;;

-- The watermark of the log: whatever is going to be stored at or below it is visible to every statement that begins after this
-- one. The order matters: first the last place that was given out, then the locks of those who are still under way. An append
-- with a place up to the former had its lock before it had the place; so either its lock is seen, and the watermark stays below
-- all its places, or it has ended before, and later statements see what it stored.
CREATE FUNCTION event_watermark() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  last bigint;
  -- How far back the oldest append that is under way began; below zero when it began after `last` was read.
  back bigint;
BEGIN
  SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO last FROM event_seq;
  SELECT max(((last - objid::bigint + 2147483648) & 4294967295) - 2147483648) INTO back
  FROM pg_locks
  WHERE locktype = 'advisory' AND classid = 7266423 AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
  RETURN last - greatest(back, 0);
END
$$;
-- ;;

-- Counts of the log by blocks of consecutive seqs, now in three sizes: block `n` of a level holds the seqs from
-- (n << level) + 1 to (n + 1) << level. A total over any part of the log is the sum of a few of them and of the rows at both ends.
DROP TRIGGER canonical_events_forget_blocks ON canonical_events;
-- ;;
DROP FUNCTION forget_event_blocks();
-- ;;
DROP TABLE event_blocks;
-- ;;
CREATE TABLE event_blocks (
  level smallint NOT NULL,
  block bigint NOT NULL,
  total integer NOT NULL,
  -- Count by type.
  by_type jsonb NOT NULL,
  min_ts timestamptz,
  max_ts timestamptz,
  PRIMARY KEY (level, block)
);
-- ;;
-- Whoever deletes events need not know of the blocks.
CREATE FUNCTION forget_event_blocks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Held by every deleter until its end; who counts blocks must be alone, so no count can include what is being deleted.
  PERFORM pg_advisory_xact_lock_shared(7266422);
  DELETE FROM event_blocks b USING (
    SELECT DISTINCT level, (seq - 1) >> level AS block FROM deleted CROSS JOIN unnest(ARRAY[10, 15, 20]) AS level
  ) AS touched
  WHERE b.level = touched.level AND b.block = touched.block;
  RETURN NULL;
END
$$;
-- ;;
CREATE TRIGGER canonical_events_forget_blocks AFTER DELETE ON canonical_events
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION forget_event_blocks();
-- ;;

-- Counts every block that is closed (nothing can come into it any more) and not counted: the smallest ones from the events, the
-- larger ones from the smaller.
CREATE FUNCTION count_event_blocks(watermark bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  size integer;
BEGIN
  INSERT INTO event_blocks (level, block, total, by_type, min_ts, max_ts)
  SELECT 10, n, coalesce(sum(types.count), 0)::int,
         coalesce(jsonb_object_agg(types.type, types.count) FILTER (WHERE types.type IS NOT NULL), '{}'),
         min(types.min_ts), max(types.max_ts)
  FROM generate_series(0, (watermark >> 10) - 1) AS n
  LEFT JOIN LATERAL (
    SELECT type, count(*) AS count, min(ts) AS min_ts, max(ts) AS max_ts FROM canonical_events
    WHERE seq > n << 10 AND seq <= (n + 1) << 10 GROUP BY type
  ) AS types ON true
  WHERE NOT EXISTS (SELECT FROM event_blocks WHERE level = 10 AND block = n)
  GROUP BY n;
  FOREACH size IN ARRAY ARRAY[15, 20] LOOP
    INSERT INTO event_blocks (level, block, total, by_type, min_ts, max_ts)
    SELECT size, n, coalesce(sum(types.count), 0)::int,
           coalesce(jsonb_object_agg(types.type, types.count) FILTER (WHERE types.type IS NOT NULL), '{}'),
           (SELECT min(min_ts) FROM event_blocks WHERE level = size - 5 AND block >= n << 5 AND block < (n + 1) << 5),
           (SELECT max(max_ts) FROM event_blocks WHERE level = size - 5 AND block >= n << 5 AND block < (n + 1) << 5)
    FROM generate_series(0, (watermark >> size) - 1) AS n
    LEFT JOIN LATERAL (
      SELECT part.key AS type, sum(part.value::int) AS count FROM event_blocks AS smaller
      CROSS JOIN LATERAL jsonb_each_text(smaller.by_type) AS part
      WHERE smaller.level = size - 5 AND smaller.block >= n << 5 AND smaller.block < (n + 1) << 5 GROUP BY part.key
    ) AS types ON true
    WHERE NOT EXISTS (SELECT FROM event_blocks WHERE level = size AND block = n)
    GROUP BY n;
  END LOOP;
END
$$;
-- ;;
SELECT count_event_blocks(event_watermark());
