-- Runs, their sessions, and the log: raw and canonical events with everything that is derived from them.
-- JSON that is served again is stored as `json`, not `jsonb`: the text comes back byte for byte, so a stored event or
-- projection is the very thing that was streamed, and a rebuild can be compared with it.

CREATE SEQUENCE event_seq;
-- ;;
CREATE TABLE runs (
  id uuid PRIMARY KEY,
  status text NOT NULL,
  mode text NOT NULL,
  mode_name text NOT NULL,
  runtime_kind text NOT NULL,
  runtime_version text,
  runtime_session_id text NOT NULL,
  trace_id text NOT NULL,
  span_id text NOT NULL,
  idempotency_key text,
  source_kind text,
  source_ref text,
  scenario_ref text,
  environment text,
  policy_version text,
  tags text[] NOT NULL DEFAULT '{}',
  metadata json NOT NULL,
  -- Lower-cased haystack of the `search` filter.
  search_text text NOT NULL,
  error_code text,
  error_message text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz,
  archived_at timestamptz,
  CONSTRAINT runs_runtime_session_id_key UNIQUE (runtime_session_id),
  CONSTRAINT runs_idempotency_key_key UNIQUE (idempotency_key)
);
-- ;;
CREATE INDEX runs_created_at ON runs (created_at, id);
-- ;;
CREATE INDEX runs_updated_at ON runs (updated_at, id);
-- ;;
CREATE INDEX runs_status_created_at ON runs (status, created_at);
-- ;;
CREATE INDEX runs_ended_at ON runs (ended_at) WHERE ended_at IS NOT NULL;
-- ;;
CREATE INDEX runs_non_terminal ON runs (id) WHERE status IN ('queued', 'starting', 'binding_session', 'running', 'suspended');
-- ;;
CREATE INDEX runs_source_ref ON runs (source_ref);
-- ;;
CREATE INDEX runs_environment ON runs (environment);
-- ;;
CREATE INDEX runs_tags ON runs USING gin (tags);
-- ;;

-- The moving end of a run's log: the row that every append locks. It is apart from `runs` and narrow, because it changes
-- with every batch while the run record changes a handful of times.
CREATE TABLE run_heads (
  run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  last_seq bigint NOT NULL DEFAULT 0,
  last_index integer NOT NULL DEFAULT 0,
  last_raw_seq integer NOT NULL DEFAULT 0,
  -- Ordinal of the last accepted session envelope in the log; advanced by compare-and-set only.
  stream_cursor bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
-- ;;
CREATE TABLE sessions (
  run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  runtime_kind text NOT NULL,
  runtime_session_id text NOT NULL,
  mode_name text NOT NULL,
  mode_version text NOT NULL,
  configuration_version text NOT NULL,
  policy_version text NOT NULL,
  initiator_participant_id text NOT NULL,
  session_state text NOT NULL,
  expires_at timestamptz,
  last_seen_at timestamptz,
  capabilities json NOT NULL,
  participants text[] NOT NULL,
  stream_connected_at timestamptz,
  stream_disconnected_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
-- ;;

-- No foreign keys from the high-volume tables: a row is only ever written under the lock of its run's head, and a run is
-- deleted together with its rows in one transaction under the same lock.
CREATE TABLE canonical_events (
  seq bigint PRIMARY KEY,
  run_id uuid NOT NULL,
  index integer NOT NULL,
  ts timestamptz NOT NULL,
  type text NOT NULL,
  -- The event exactly as it is served and streamed.
  event json NOT NULL,
  -- The next transaction id at the time of the insert, which came after the allocation of `seq`. Every transaction that
  -- holds a lower seq has a lower id, so once all transactions below the gate have ended, nothing can still appear
  -- in front of this row: readers across runs stop at the last row whose gate has been passed.
  gate xid8 NOT NULL
);
-- ;;
CREATE UNIQUE INDEX canonical_events_run_index ON canonical_events (run_id, index);
-- ;;
CREATE UNIQUE INDEX canonical_events_run_seq ON canonical_events (run_id, seq);
-- ;;
CREATE INDEX canonical_events_type_seq ON canonical_events (type, seq);
-- ;;
CREATE INDEX canonical_events_ts ON canonical_events USING brin (ts);
-- ;;
CREATE TABLE raw_events (
  run_id uuid NOT NULL,
  seq integer NOT NULL,
  ts timestamptz NOT NULL,
  kind text NOT NULL,
  source_name text NOT NULL,
  payload json NOT NULL,
  PRIMARY KEY (run_id, seq)
);
-- ;;
CREATE TABLE outbound_messages (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  run_id uuid NOT NULL,
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  message_id text NOT NULL,
  accepted boolean NOT NULL,
  -- The message as served, without `id`.
  message json NOT NULL,
  PRIMARY KEY (run_id, message_id)
);
-- ;;
CREATE INDEX outbound_messages_run_ordinal ON outbound_messages (run_id, ordinal);
-- ;;
CREATE TABLE projections (
  run_id uuid PRIMARY KEY,
  last_seq bigint NOT NULL,
  state json NOT NULL,
  updated_at timestamptz NOT NULL
);
-- ;;
CREATE TABLE run_metrics (
  run_id uuid PRIMARY KEY,
  metrics json NOT NULL,
  prompt_tokens double precision NOT NULL,
  completion_tokens double precision NOT NULL,
  total_tokens double precision NOT NULL,
  estimated_cost_usd double precision NOT NULL,
  signal_count integer NOT NULL,
  decision_count integer NOT NULL
);
-- ;;
CREATE TABLE artifacts (
  id uuid PRIMARY KEY,
  run_id uuid NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  kind text NOT NULL,
  label text NOT NULL,
  uri text,
  inline json,
  created_at timestamptz NOT NULL
);
-- ;;
CREATE INDEX artifacts_run_created_at ON artifacts (run_id, created_at);
