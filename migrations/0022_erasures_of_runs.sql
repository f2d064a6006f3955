-- Erasures of a text from many runs, and their dry runs (docs/reference/erasure.md). `find` is the text, only while the
-- job works; a search that has the text goes with it.
CREATE TABLE erasure_jobs (
  id uuid PRIMARY KEY,
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  dry_run boolean NOT NULL,
  find text,
  query text NOT NULL,
  reason text NOT NULL,
  -- The caller, for the audit entries of its runs.
  actor text NOT NULL,
  actor_type text NOT NULL,
  actor_name text,
  request_id text NOT NULL,
  client_address text NOT NULL,
  created_at timestamptz NOT NULL,
  -- Null while it works.
  ended_at timestamptz,
  -- Of a dry run that has ended.
  plan text
);
CREATE INDEX erasure_jobs_open ON erasure_jobs (ordinal) WHERE ended_at IS NULL;
CREATE INDEX erasure_jobs_plan ON erasure_jobs (plan) WHERE plan IS NOT NULL;

-- The runs of a job. `plan` is what the dry run has found of a run, and what the erasure finds again or leaves the run.
CREATE TABLE erasure_runs (
  job_id uuid NOT NULL REFERENCES erasure_jobs (id) ON DELETE CASCADE,
  position integer NOT NULL,
  run_id uuid NOT NULL,
  plan text,
  members integer NOT NULL DEFAULT 0,
  remaining integer NOT NULL DEFAULT 0,
  pending boolean NOT NULL DEFAULT false,
  -- Why the run was left as it is.
  left_out text,
  done_at timestamptz,
  PRIMARY KEY (job_id, position)
);
CREATE INDEX erasure_runs_open ON erasure_runs (job_id, position) WHERE done_at IS NULL;
CREATE INDEX erasure_runs_run ON erasure_runs (run_id) WHERE done_at IS NULL;

-- Runs whose files in the archive still have erased texts (docs/reference/erasure.md#archive). The positions and the
-- day find the files.
CREATE TABLE archive_erasures (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id uuid NOT NULL,
  requested_at timestamptz NOT NULL,
  run_created_at timestamptz NOT NULL,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  rewritten_at timestamptz
);
CREATE INDEX archive_erasures_pending ON archive_erasures (run_id) WHERE rewritten_at IS NULL;

-- The events of these runs as the files are to have them, until they do: retention may delete the run meanwhile.
CREATE TABLE archive_erased_events (
  seq bigint PRIMARY KEY,
  run_id uuid NOT NULL,
  event json NOT NULL,
  salts json NOT NULL
);
CREATE INDEX archive_erased_events_run ON archive_erased_events (run_id);

-- The rows of runs that only files have, as these are to have them: their texts, and the appendix of their erasures.
CREATE TABLE archive_erased_runs (
  run_id uuid PRIMARY KEY,
  version bigint NOT NULL,
  run text NOT NULL,
  tags text[] NOT NULL,
  error_message text,
  intent text,
  erasures text
);
