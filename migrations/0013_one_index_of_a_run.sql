-- Within a run, places ascend with seqs, so the index by seq serves both orders. The one by place cost every event an
-- entry of its own, with its share of the write-ahead log, for a single look-up: the first event of a run. That places
-- are dense is kept by the lock of the run's row.
DROP INDEX canonical_events_run_index;
