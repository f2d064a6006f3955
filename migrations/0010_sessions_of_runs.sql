-- A run that has failed because its session did not open in time has given the session up: when the session opens all the
-- same, another run gets it. One index finds the runs of a session and keeps the others unique.
ALTER TABLE runs DROP CONSTRAINT runs_runtime_session_id_key;
-- ;;
CREATE UNIQUE INDEX runs_runtime_session_id ON runs (
  runtime_session_id,
  (CASE WHEN error_code = 'RUNTIME_TIMEOUT' THEN id ELSE '00000000-0000-0000-0000-000000000000'::uuid END)
);
-- ;;

-- Sessions whose run was deleted: while the runtime still knows them, the discovery does not bring the run back. They are
-- forgotten after 30 days, when no session can be alive any more.
CREATE TABLE deleted_sessions (
  runtime_session_id text PRIMARY KEY,
  deleted_at timestamptz NOT NULL
);
-- ;;
CREATE INDEX deleted_sessions_deleted_at ON deleted_sessions (deleted_at);
