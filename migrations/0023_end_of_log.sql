-- What follows a place of the log up to its watermark, and the watermark, with one exchange for those who follow the
-- log. The function is volatile, so its second statement sees what was committed before the first: no event below the
-- watermark is missing. Beside them the bytes of the events so far; after `most_bytes` no more are read. Without events
-- there is one row, of the watermark. A plan that was made while the log was empty finds its place by the index, too.
CREATE FUNCTION end_of_log(after_seq bigint, most integer, most_bytes bigint)
RETURNS TABLE (mark bigint, seq bigint, index integer, event text, bytes bigint)
LANGUAGE plpgsql VOLATILE ROWS 20 SET enable_seqscan = off AS $$
DECLARE
  up_to bigint := event_watermark();
BEGIN
  RETURN QUERY
    SELECT up_to, measured.seq, measured.index, measured.event, measured.bytes
    FROM (SELECT) AS always LEFT JOIN (
      SELECT next.seq, next.index, next.event, sum(octet_length(next.event)) OVER (ORDER BY next.seq) AS bytes
      FROM (SELECT e.seq, e.index, e.event::text AS event FROM canonical_events AS e
            WHERE e.seq > after_seq AND e.seq <= up_to ORDER BY e.seq LIMIT most) AS next
    ) AS measured ON measured.bytes - octet_length(measured.event) < most_bytes
    ORDER BY measured.seq;
END
$$;
