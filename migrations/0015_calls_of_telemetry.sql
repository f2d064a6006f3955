-- Model calls that telemetry has counted within the last hour, so that the same call, seen by the client and by a
-- gateway in other traces, counts once (docs/reference/ingest.md#counted-once). `call` is a hash of the source, the
-- response id and the tokens.
CREATE TABLE otlp_calls (
  call uuid PRIMARY KEY,
  run_id uuid NOT NULL,
  counted_at timestamptz NOT NULL
);
CREATE INDEX otlp_calls_run_id ON otlp_calls (run_id);
CREATE INDEX otlp_calls_counted_at ON otlp_calls USING brin (counted_at);
