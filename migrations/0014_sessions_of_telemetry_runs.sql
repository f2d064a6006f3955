-- A run of telemetry has its key as its session id (docs/reference/ingest.md#runs), and a sender chooses the key. So it
-- does not hold the session of a runtime that has the same id: the runs of telemetry are unique among themselves.
DROP INDEX runs_runtime_session_id;
CREATE UNIQUE INDEX runs_runtime_session_id ON runs (
  runtime_session_id,
  (CASE
     WHEN error_code = 'RUNTIME_TIMEOUT' THEN id
     WHEN runtime_kind = 'otlp' THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
     ELSE '00000000-0000-0000-0000-000000000000'::uuid
   END)
);
