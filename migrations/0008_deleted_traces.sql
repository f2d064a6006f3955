-- Traces of deleted runs (docs/reference/ingest.md#deleted-runs): what arrives of them later is dropped and counted.
-- After 30 days, when no exporter repeats them, the row goes.
CREATE TABLE deleted_traces (
  source text NOT NULL,
  trace_id text NOT NULL,
  deleted_at timestamptz NOT NULL,
  PRIMARY KEY (source, trace_id)
);
CREATE INDEX deleted_traces_deleted_at ON deleted_traces (deleted_at);
