-- The whole schema. JSON that is served again is stored as `json`, not `jsonb`: the text comes back byte for byte, so a
-- stored event or projection is exactly what was streamed, and a rebuild can be compared with it.

-- Text and metadata ---------------------------------------------------------------------------------------------------

-- Comparisons that ignore case fold both texts with this function (docs/reference/search.md#folding). In a database of
-- the locale C, lower() folds only the letters of ASCII. ICU folds all letters, and so does pg_c_utf8 (from
-- PostgreSQL 17). NFC makes a letter and its accent one character. upper() makes SS of a sharp s, and the position of a
-- sigma in its word decides its small letter, so both forms become one. Most texts are ASCII and most others are NFC:
-- the check costs less than the conversion.
DO $$
DECLARE
  letters text := (
    SELECT collname FROM pg_collation
    WHERE collnamespace = 'pg_catalog'::regnamespace AND collname IN ('und-x-icu', 'pg_c_utf8')
    ORDER BY collname = 'und-x-icu' DESC LIMIT 1
  );
  letter text := 'replace(lower(upper(lower(%s' || coalesce(format(' COLLATE %I', letters), '')
    || '))), chr(962), chr(963)) COLLATE "C"';
  folded text := CASE
    WHEN getdatabaseencoding() <> 'UTF8' THEN 'lower(given)'
    ELSE format('CASE WHEN octet_length(given) = char_length(given) THEN lower(given COLLATE "C")
                      WHEN given IS NFC NORMALIZED THEN %s ELSE %s END',
                format(letter, 'given'), format(letter, 'normalize(given, NFC)'))
  END;
BEGIN
  EXECUTE 'CREATE FUNCTION fold_text(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ' || folded;
END $$;

-- Lists show a part of a run's metadata, which is stored beside the whole: a page of runs reads nothing else, however
-- large the contexts are (docs/reference/runs.md#run-metadata). The part is without the submitted descriptor, without
-- values over 4,096 bytes, and ends after 65,536 bytes.
CREATE FUNCTION listed_metadata_entries(whole json)
RETURNS TABLE (key text, value json, ordinal bigint, listed boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT key, value, ordinal, small AND sum(CASE WHEN small THEN bytes ELSE 0 END) OVER (ORDER BY ordinal) <= 65536
  FROM (
    SELECT key, value, ordinal, octet_length(key) + octet_length(value::text) AS bytes,
           octet_length(key) <= 4096 AND octet_length(value::text) <= 4096 AS small
    FROM json_each(whole) WITH ORDINALITY AS entries(key, value, ordinal)
    WHERE key <> 'executionRequest'
  ) AS judged
$$;

-- A restore computes generated columns without a search path, so this function brings its own.
CREATE FUNCTION listed_metadata(whole json) RETURNS json LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT AS $$
  SELECT ('{' || coalesce(string_agg(to_json(key)::text || ':' || value::text, ',' ORDER BY ordinal), '') || '}')::json
  FROM listed_metadata_entries(whole) WHERE listed
$$;

-- The keys that the list leaves out: at most 100, of at most 200 characters.
CREATE FUNCTION omitted_metadata(whole json) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT AS $$
  SELECT coalesce(array_agg(left(key, 200) ORDER BY ordinal), '{}')
  FROM (SELECT key, ordinal FROM listed_metadata_entries(whole) WHERE NOT listed ORDER BY ordinal LIMIT 100) AS omitted
$$;

-- Runs ----------------------------------------------------------------------------------------------------------------

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
  -- The text of the `search` filter, folded.
  search_text text NOT NULL,
  error_code text,
  error_message text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz,
  archived_at timestamptz,
  -- Counts the changes of `status`: a change that was decided on an older status is dropped. A pause that the runtime
  -- reports late may arrive after a caller has resumed the run and suspended it again.
  status_revision integer NOT NULL DEFAULT 0,
  -- Whether envelopes of the run are missing from its log.
  history_gap boolean NOT NULL DEFAULT false,
  listed_metadata json GENERATED ALWAYS AS (listed_metadata(metadata)) STORED,
  omitted_metadata text[] GENERATED ALWAYS AS (omitted_metadata(metadata)) STORED,
  -- The caller's span, as a W3C traceparent: the run's span is its child. NULL: the run began the trace.
  trace_parent text,
  CONSTRAINT runs_idempotency_key_key UNIQUE (idempotency_key)
);
-- A run that failed because its session did not open in time releases the session: when it opens later, another run
-- gets it. One index finds the runs of a session and keeps the other runs unique.
CREATE UNIQUE INDEX runs_runtime_session_id ON runs (
  runtime_session_id,
  (CASE WHEN error_code = 'RUNTIME_TIMEOUT' THEN id ELSE '00000000-0000-0000-0000-000000000000'::uuid END)
);
-- A page of runs, and the rows that it skips, are found in one index alone.
CREATE INDEX runs_created_at ON runs (created_at, id) INCLUDE (status, archived_at);
CREATE INDEX runs_updated_at ON runs (updated_at, id) INCLUDE (status, archived_at);
CREATE INDEX runs_status_created_at ON runs (status, created_at, id) INCLUDE (archived_at);
CREATE INDEX runs_ended_at ON runs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX runs_non_terminal ON runs (id)
  WHERE status IN ('queued', 'starting', 'binding_session', 'running', 'suspended');
CREATE INDEX runs_open_created_at ON runs (created_at)
  WHERE status IN ('queued', 'starting', 'binding_session', 'running', 'suspended');
CREATE INDEX runs_source_ref ON runs (source_ref);
CREATE INDEX runs_scenario_ref ON runs (fold_text(scenario_ref)) WHERE scenario_ref IS NOT NULL;
CREATE INDEX runs_environment ON runs (environment);
CREATE INDEX runs_tags ON runs USING gin (tags);
CREATE INDEX runs_trace_id ON runs (trace_id);
-- A policy version may be longer than an entry of a B-tree, and is compared only as a whole.
CREATE INDEX runs_policy_version ON runs USING hash (policy_version);
CREATE INDEX runs_error_code ON runs (error_code) WHERE error_code IS NOT NULL;
-- Milliseconds; -1 without a duration.
CREATE INDEX runs_duration ON runs (
  (CASE WHEN ended_at < started_at THEN 0 ELSE coalesce(extract(epoch FROM ended_at - started_at) * 1000, -1) END), id
);

-- The end of a run's log: the row that every append locks. It is apart from `runs` and narrow, because it changes with
-- every batch, while the run changes a few times.
CREATE TABLE run_heads (
  run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  last_seq bigint NOT NULL DEFAULT 0,
  last_index integer NOT NULL DEFAULT 0,
  last_raw_seq integer NOT NULL DEFAULT 0,
  -- Ordinal of the last accepted session envelope in the log; advanced by compare-and-set only.
  stream_cursor bigint NOT NULL DEFAULT 0,
  -- Every rebuild of the projection raises it: a process that caches the projection of an older revision reads it
  -- again, although `last_seq` is the same.
  projection_revision integer NOT NULL DEFAULT 0,
  -- Head of the hash chain after the last event (docs/reference/seal.md#chain). The last seal is here too, because a
  -- read of the locked row returns what was committed last.
  chain_head bytea,
  sealed_index integer NOT NULL DEFAULT 0,
  sealed_head bytea,
  -- Time of the last event, by the database's clock; it never goes back within a run (docs/reference/events.md#time).
  last_ts timestamptz,
  -- A MAC over the end of the log by a key that is not in the database (docs/reference/seal.md#proof). It does not
  -- cover events up to `proven_after`. The second chain covers the raw frames after `frames_after`.
  head_mac bytea,
  proven_after integer NOT NULL DEFAULT 0,
  frames_after integer NOT NULL DEFAULT 0,
  frames_head bytea
) WITH (fillfactor = 50);

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

-- Sessions whose run was deleted: discovery does not make a run of them again while the runtime still lists them. After
-- 30 days, when no session can be alive, the row goes.
CREATE TABLE deleted_sessions (
  runtime_session_id text PRIMARY KEY,
  deleted_at timestamptz NOT NULL
);
CREATE INDEX deleted_sessions_deleted_at ON deleted_sessions (deleted_at);

-- Runs that were cancelled before their session opened: the session is stopped when it opens, up to this time.
CREATE TABLE late_cancels (
  run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  reason text NOT NULL,
  until timestamptz NOT NULL
);

-- Resolved runs whose receipt is still to be read from the runtime.
CREATE TABLE pending_receipts (
  run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  session_id text NOT NULL,
  mode_name text NOT NULL,
  since timestamptz NOT NULL,
  -- Counts the attempts, and fences them: a claim that ran out has a smaller number than the row.
  attempts integer NOT NULL DEFAULT 0,
  -- A claim delays the next one until it has run out.
  due_at timestamptz NOT NULL
);
CREATE INDEX pending_receipts_due_at ON pending_receipts (due_at);

CREATE TABLE artifacts (
  id uuid PRIMARY KEY,
  run_id uuid NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  kind text NOT NULL,
  label text NOT NULL,
  uri text,
  inline json,
  created_at timestamptz NOT NULL,
  -- Artifacts of the same millisecond keep the order in which they were stored.
  ordinal bigint GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX artifacts_run_created_at ON artifacts (run_id, created_at, ordinal);

-- The log -------------------------------------------------------------------------------------------------------------
-- The tables with many rows have no foreign keys: a transaction writes their rows only under the lock of the run's
-- head, and one transaction deletes a run with all its rows under the same lock.

CREATE SEQUENCE event_seq;

-- An index of positions in the run would cost each event a second entry. It is not needed: positions ascend with `seq`,
-- and the lock of the run's head keeps them dense.
CREATE TABLE canonical_events (
  seq bigint PRIMARY KEY,
  run_id uuid NOT NULL,
  index integer NOT NULL,
  ts timestamptz NOT NULL,
  type text NOT NULL,
  -- The event exactly as it is served and streamed.
  event json NOT NULL
);
CREATE UNIQUE INDEX canonical_events_run_seq ON canonical_events (run_id, seq);
CREATE INDEX canonical_events_type_seq ON canonical_events (type, seq);
CREATE INDEX canonical_events_ts ON canonical_events USING brin (ts);

CREATE TABLE raw_events (
  run_id uuid NOT NULL,
  seq integer NOT NULL,
  ts timestamptz NOT NULL,
  kind text NOT NULL,
  source_name text NOT NULL,
  payload json NOT NULL,
  PRIMARY KEY (run_id, seq)
);

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
CREATE INDEX outbound_messages_run_ordinal ON outbound_messages (run_id, ordinal);

-- A checkpoint of the run's state, which may lag behind the log.
CREATE TABLE projections (
  run_id uuid PRIMARY KEY,
  last_seq bigint NOT NULL,
  state json NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE run_metrics (
  run_id uuid PRIMARY KEY,
  metrics json NOT NULL,
  prompt_tokens double precision NOT NULL,
  completion_tokens double precision NOT NULL,
  total_tokens double precision NOT NULL,
  estimated_cost_usd double precision NOT NULL,
  -- Part of the cost whose models have no known price.
  guessed_cost_usd double precision NOT NULL DEFAULT 0,
  signal_count integer NOT NULL,
  decision_count integer NOT NULL,
  -- What the session is for.
  intent text
);

-- Allocates `count` numbers of the log's one sequence, ascending. Before that it takes a lock that says "this
-- transaction has no number up to here", which ends with the transaction or its server process. The lock is shared, so
-- that no append waits for another. Its key holds the lower 32 bits of the number; event_watermark() restores the rest.
CREATE FUNCTION allocate_event_seqs(count integer) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  seqs bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock_shared(
    7266423, (((CASE WHEN is_called THEN last_value ELSE 0 END + 2147483648) & 4294967295) - 2147483648)::integer
  ) FROM event_seq;
  SELECT array_agg(seq ORDER BY seq) INTO seqs
  FROM (SELECT nextval('event_seq') AS seq FROM generate_series(1, count)) AS allocated;
  RETURN seqs;
END
$$;

-- The watermark of the log (docs/reference/events.md#watermark): every event at or below it is visible to each
-- statement that begins after this one. The order matters: first the last allocated number, then the locks of the open
-- appends. An append locks before it allocates. So either its lock is seen, and the watermark stays below all its
-- numbers, or the append has ended, and later statements see its events.
CREATE FUNCTION event_watermark() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  last bigint;
  -- How far back the oldest open append began; below zero when it began after `last` was read.
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

-- The events after a number of the log up to its watermark, and the watermark, in one exchange for those who follow the
-- log. The function is volatile, so its second statement sees every commit before the first: no event below the
-- watermark is missing. `bytes` sums up the events so far; after `most_bytes` the read ends. Without events there is
-- one row, of the watermark. A plan that was made while the log was empty uses the index too.
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

-- Seals and the ledger ------------------------------------------------------------------------------------------------

-- The seal of a run's history at each of its ends, exactly as it is served.
CREATE TABLE run_seals (
  run_id uuid NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  events integer NOT NULL,
  seal json NOT NULL,
  PRIMARY KEY (run_id, events)
);

-- Every public key that has ever sealed: seals outlive the keys that made them.
CREATE TABLE seal_keys (
  key_id text PRIMARY KEY,
  -- The key's 32 bytes, base64url.
  public_key text NOT NULL,
  first_used_at timestamptz NOT NULL DEFAULT now()
);

-- One row stays of each deleted run. `seal` is its last seal; null when it had none.
CREATE TABLE run_tombstones (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id uuid NOT NULL,
  status text NOT NULL,
  events integer NOT NULL,
  reason text NOT NULL,
  deleted_at timestamptz NOT NULL,
  deleted_by text NOT NULL,
  seal json,
  -- What the archive needs to find the rows of the run in its files.
  run_created_at timestamptz NOT NULL,
  first_seq bigint,
  last_seq bigint NOT NULL,
  -- When the archive had the tombstone, and when it had no row of the run any more.
  archived_at timestamptz,
  erased_at timestamptz
);
CREATE INDEX run_tombstones_run_id ON run_tombstones (run_id, id);
-- Retention deletes a run from the database and not from the archive.
CREATE INDEX run_tombstones_unarchived ON run_tombstones (id) WHERE archived_at IS NULL AND reason <> 'expired';
CREATE INDEX run_tombstones_unerased ON run_tombstones (id) WHERE erased_at IS NULL AND reason <> 'expired';

-- Entries that the ledger has not numbered yet (docs/reference/seal.md#ledger): written in the transaction of the seal,
-- tombstone or audit entry, and deleted when the ledger has it. The MAC is by a key that is not in the database.
CREATE TABLE ledger_pending (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  subject text NOT NULL,
  digest text NOT NULL,
  mac text
);

-- One numbered chain of all seals, tombstones and audit entries. Rows are never changed and never deleted.
CREATE TABLE ledger (
  number bigint PRIMARY KEY,
  kind text NOT NULL,
  subject text NOT NULL,
  digest text NOT NULL,
  vouched boolean NOT NULL,
  previous text NOT NULL,
  at timestamptz NOT NULL,
  key_id text,
  signature text
);
CREATE INDEX ledger_subject ON ledger (kind, subject);

-- OpenTelemetry (docs/reference/ingest.md) ----------------------------------------------------------------------------

-- Received spans and log records that no run has yet. A receiver acknowledges them after the commit of their rows, and
-- the transaction that appends their events deletes the rows.
CREATE TABLE otlp_inbox (
  source text NOT NULL,
  trace_id text NOT NULL,
  span_id text NOT NULL,
  -- `span`, or `log:` and a digest of the record: a span has several.
  kind text NOT NULL,
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  received_at timestamptz NOT NULL,
  bytes integer NOT NULL,
  span json NOT NULL,
  PRIMARY KEY (source, trace_id, span_id, kind)
);

-- The run of each trace, once that is decided.
CREATE TABLE otlp_traces (
  source text NOT NULL,
  trace_id text NOT NULL,
  run_id uuid NOT NULL,
  -- The key of the run; null for the run of a session on a runtime, which spans only enrich.
  run_key text,
  -- Bytes of its spans and log records that the run has.
  bytes bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (source, trace_id)
) WITH (fillfactor = 70);
CREATE INDEX otlp_traces_run_id ON otlp_traces (run_id);

-- The spans and log records of each run in the order in which its story has them. Two processes that continue one story
-- at the same time write the same position, and one of them fails.
CREATE TABLE otlp_seen (
  run_id uuid NOT NULL,
  position integer NOT NULL,
  -- Trace, span and kind.
  key text NOT NULL,
  -- What the story remembers of it.
  node json NOT NULL,
  PRIMARY KEY (run_id, position)
);
CREATE UNIQUE INDEX otlp_seen_key ON otlp_seen (run_id, key);

-- Marks ---------------------------------------------------------------------------------------------------------------

-- Judgements beside the log (docs/reference/marks.md).
CREATE TABLE marks (
  id uuid PRIMARY KEY,
  run_id uuid NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  -- Position in the chain of the run's marks, from 1.
  position integer NOT NULL,
  target_kind text NOT NULL,
  -- Participant id or event id; NULL for a run.
  target_id text,
  -- Index of the event that is judged.
  index integer,
  name text NOT NULL,
  -- One of these three; none of a deleted mark.
  number double precision,
  flag boolean,
  category text,
  comment text,
  source text NOT NULL,
  judge_name text,
  judge_model text,
  judge_prompt_hash text,
  -- Identifies the caller; `author_name` is for readers.
  author text NOT NULL,
  author_name text,
  created_at timestamptz NOT NULL,
  idempotency_key text,
  -- SHA-256 of the nonce and the request, to compare a repeated request; hexadecimal.
  request_sha256 text,
  -- Keeps digests from revealing a deleted value (docs/reference/seal.md#marks).
  nonce text,
  content_sha256 text NOT NULL,
  -- SHA-256 of target, name and rater, which is the judge, else the author; of a comment also of its id. Null of a
  -- deleted mark.
  slot text,
  -- A later mark of the same slot.
  replaced_by uuid,
  deleted_at timestamptz,
  deleted_by text,
  -- Position of the deletion in the chain.
  deleted_position integer,
  UNIQUE (run_id, position)
);
CREATE UNIQUE INDEX marks_idempotency_key ON marks (run_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
-- The current marks: neither replaced nor deleted.
CREATE UNIQUE INDEX marks_current ON marks (run_id, slot) WHERE replaced_by IS NULL AND deleted_at IS NULL;
CREATE INDEX marks_current_number ON marks (name, number, run_id) WHERE replaced_by IS NULL AND deleted_at IS NULL;
CREATE INDEX marks_current_flag ON marks (name, flag, run_id) WHERE replaced_by IS NULL AND deleted_at IS NULL;
CREATE INDEX marks_current_category ON marks (name, category, run_id) WHERE replaced_by IS NULL AND deleted_at IS NULL;
-- The latest current mark of a name of each run, which lists are sorted by; the truth of decisions.
CREATE INDEX marks_current_run ON marks (name, run_id, created_at DESC, id DESC) INCLUDE (number, flag, category)
WHERE replaced_by IS NULL AND deleted_at IS NULL;
CREATE INDEX marks_created_at ON marks (created_at, id) WHERE replaced_by IS NULL AND deleted_at IS NULL;

-- The end of the chain of each run's marks. Writers of marks lock its row.
CREATE TABLE mark_chains (
  run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  -- Additions and deletions.
  entries integer NOT NULL DEFAULT 0,
  -- Additions, and the bytes of their contents.
  marks integer NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  -- After the last entry, hexadecimal; null before the first one.
  head text,
  key_id text,
  signature text
);

CREATE TABLE mark_definitions (
  name text PRIMARY KEY,
  definition json NOT NULL,
  updated_at timestamptz NOT NULL
);

-- The archive (docs/reference/archive.md) -----------------------------------------------------------------------------

-- One row since the first start with ARCHIVE_URL.
CREATE TABLE archive_state (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  cell text NOT NULL,
  url text NOT NULL,
  -- The events up to this position are in files.
  seq bigint NOT NULL DEFAULT 0,
  -- Number of the last file of the other tables, which is the version of its rows.
  number bigint NOT NULL DEFAULT 0,
  -- Whether the marks of before are in `archive_changes`. The row is inserted under a lock of the tables whose changes
  -- are noted, so no transaction that began before it changes them.
  is_ready boolean NOT NULL DEFAULT false,
  -- Since when writing fails, and why; null while it works.
  failing_since timestamptz,
  failure_kind text,
  failure text
);

-- A range whose files are being written, one a table. It is committed before the first file is visible, so that a
-- process that continues writes the same names; it is deleted in the transaction that adds the files below.
CREATE TABLE archive_ranges (
  table_name text PRIMARY KEY,
  range_from bigint NOT NULL,
  range_to bigint NOT NULL,
  -- UTC days of its files.
  days text[] NOT NULL,
  -- The changes that a range of another table than `events` has: ids of rows, and their `archive_changes.change`.
  ids text[] NOT NULL DEFAULT '{}',
  changes bigint[] NOT NULL DEFAULT '{}',
  -- The files that compaction replaces; with these the table is `compaction/TABLE`.
  parts text[] NOT NULL DEFAULT '{}'
);

-- The visible files.
CREATE TABLE archive_files (
  path text PRIMARY KEY,
  table_name text NOT NULL,
  day text NOT NULL,
  range_from bigint NOT NULL,
  range_to bigint NOT NULL,
  rows bigint NOT NULL,
  bytes bigint NOT NULL,
  written_at timestamptz NOT NULL
);
CREATE INDEX archive_files_range ON archive_files (table_name, range_to, range_from);

-- The runs that are in files; a row stays when retention deletes the run.
CREATE TABLE archive_runs (
  run_id uuid PRIMARY KEY,
  version bigint NOT NULL,
  -- UTC day of its creation: the partition of its row and of its marks.
  day text NOT NULL,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  events integer NOT NULL,
  session_id text NOT NULL
);
CREATE INDEX archive_runs_session_id ON archive_runs (session_id);

-- Ended runs and marks that changed since they were written. A later change has a greater number.
CREATE SEQUENCE archive_change;
CREATE TABLE archive_changes (
  table_name text NOT NULL,
  id uuid NOT NULL,
  change bigint NOT NULL,
  PRIMARY KEY (table_name, id)
);
CREATE INDEX archive_changes_change ON archive_changes (table_name, change);

CREATE FUNCTION note_archive_change(changed text, row_id uuid) RETURNS void LANGUAGE sql AS $$
  INSERT INTO archive_changes (table_name, id, change)
  SELECT changed, row_id, nextval('archive_change') WHERE EXISTS (SELECT FROM archive_state)
  ON CONFLICT (table_name, id) DO UPDATE SET change = excluded.change
$$;
CREATE FUNCTION note_archive_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_archive_change(TG_TABLE_NAME, NEW.id);
  RETURN NULL;
END
$$;
CREATE FUNCTION note_archive_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_archive_change('runs', NEW.run_id);
  RETURN NULL;
END
$$;
-- The end of a run is noted when its events are in files.
CREATE TRIGGER runs_note_archive AFTER UPDATE ON runs
FOR EACH ROW WHEN (OLD.status IN ('completed', 'failed', 'cancelled')) EXECUTE FUNCTION note_archive_row();
CREATE TRIGGER run_seals_note_archive AFTER INSERT ON run_seals FOR EACH ROW EXECUTE FUNCTION note_archive_run();
CREATE TRIGGER marks_note_archive AFTER INSERT OR UPDATE ON marks FOR EACH ROW EXECUTE FUNCTION note_archive_row();

-- Webhooks ------------------------------------------------------------------------------------------------------------

CREATE TABLE webhooks (
  id uuid PRIMARY KEY,
  url text NOT NULL,
  events text[] NOT NULL DEFAULT '{}',
  secret text NOT NULL,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- The worker counts each delivery at its end: the list of subscriptions must not count all deliveries ever made.
  succeeded bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  last_delivered_at timestamptz,
  -- Time of the subscription's last attempt: the subscription that has waited longest comes first.
  served_at timestamptz,
  -- A busy receiver (429 or 503 with Retry-After) stops its whole subscription until this time.
  held_until timestamptz
);

-- The outbox: the transaction of an event writes its deliveries too.
CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  webhook_id uuid NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  run_id uuid NOT NULL,
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  event text NOT NULL,
  payload json NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  response_status integer,
  error_message text,
  created_at timestamptz NOT NULL,
  delivered_at timestamptz,
  -- Attempts since `queued_at`, the creation or the last redelivery; `attempts` counts all of them.
  tries integer NOT NULL DEFAULT 0,
  queued_at timestamptz NOT NULL DEFAULT now(),
  -- An attempt may last until then. Every claim changes `attempts`, so its value identifies the claim.
  claimed_until timestamptz
);
CREATE INDEX webhook_deliveries_created_at ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, ordinal);
CREATE INDEX webhook_deliveries_run ON webhook_deliveries (run_id);
-- A subscription makes several attempts at once, each for another run. These find the next due delivery of a
-- subscription, the first pending one of a run, and the claimed ones, without a walk over the others.
CREATE INDEX webhook_deliveries_next ON webhook_deliveries (webhook_id, next_attempt_at, ordinal)
  WHERE status = 'pending';
CREATE INDEX webhook_deliveries_lane ON webhook_deliveries (webhook_id, run_id, ordinal) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_claimed ON webhook_deliveries (webhook_id, claimed_until)
  WHERE status = 'pending' AND claimed_until IS NOT NULL;

-- Alerts --------------------------------------------------------------------------------------------------------------

-- Rules over the log (docs/reference/alerts.md).
CREATE TABLE alert_rules (
  id text PRIMARY KEY,
  rule json NOT NULL,
  enabled boolean NOT NULL,
  -- Events up to this position do not count.
  from_seq bigint NOT NULL,
  -- Position of a new rule that still counts older events, up to the cursor of the evaluator. Firings of events up to
  -- `silent_seq`, the end of the log at its creation, are not notified.
  backfill_seq bigint,
  silent_seq bigint NOT NULL DEFAULT 0,
  -- Why it cannot be evaluated.
  error text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

-- The position of the evaluator in the log. The transaction of a step locks its row.
CREATE TABLE alert_cursor (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  seq bigint NOT NULL DEFAULT 0,
  -- Changes with every change of a rule.
  rules_version bigint NOT NULL DEFAULT 0
);
INSERT INTO alert_cursor DEFAULT VALUES;

-- Sums of a rule by key and period, or by key and minute for rolling windows. `part` is the outcome for agreement, else
-- empty. Money is in billionths of a dollar, so that the order of its parts does not matter.
CREATE TABLE alert_counters (
  rule_id text NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE,
  key text NOT NULL,
  period text NOT NULL,
  part text NOT NULL DEFAULT '',
  value double precision NOT NULL,
  n bigint NOT NULL,
  -- The row is not needed after this moment.
  ends_at timestamptz NOT NULL,
  PRIMARY KEY (rule_id, key, period, part)
) WITH (fillfactor = 70);
CREATE INDEX alert_counters_ends_at ON alert_counters (ends_at);

-- What the evaluator remembers of a run between two steps: last votes, streaks, suspended time.
CREATE TABLE alert_memories (
  run_id uuid PRIMARY KEY,
  memory json NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX alert_memories_updated_at ON alert_memories (updated_at);

-- Values of marks that the evaluator has not counted yet: one for each mark of a rule, and its opposite when the mark
-- is replaced or deleted. `value` is in billionths.
CREATE TABLE alert_marks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id uuid NOT NULL,
  name text NOT NULL,
  at timestamptz NOT NULL,
  value double precision NOT NULL,
  n integer NOT NULL
);

CREATE FUNCTION note_alert_mark() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was boolean := TG_OP = 'UPDATE' AND OLD.replaced_by IS NULL AND OLD.deleted_at IS NULL;
  is_current boolean := NEW.replaced_by IS NULL AND NEW.deleted_at IS NULL;
  score double precision :=
    CASE WHEN was THEN coalesce(OLD.number, OLD.flag::int) ELSE coalesce(NEW.number, NEW.flag::int) END;
BEGIN
  IF was <> is_current AND score IS NOT NULL AND EXISTS (
    SELECT FROM alert_rules WHERE enabled AND rule ->> 'measure' = 'markBelow:' || NEW.name
  ) THEN
    INSERT INTO alert_marks (run_id, name, at, value, n)
    SELECT NEW.run_id, NEW.name, NEW.created_at, sign * round(score * 1000000000), sign
    FROM (SELECT CASE WHEN was THEN -1 ELSE 1 END AS sign) AS change;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER marks_note_alert AFTER INSERT OR UPDATE OF replaced_by, deleted_at ON marks
FOR EACH ROW EXECUTE FUNCTION note_alert_mark();

-- Times at which rules of silence and duration may fire.
CREATE TABLE alert_deadlines (
  rule_id text NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE,
  run_id uuid NOT NULL,
  due_at timestamptz NOT NULL,
  PRIMARY KEY (rule_id, run_id)
);
CREATE INDEX alert_deadlines_due_at ON alert_deadlines (due_at);
CREATE INDEX alert_deadlines_run_id ON alert_deadlines (run_id);

CREATE TABLE alert_firings (
  id uuid PRIMARY KEY,
  rule_id text NOT NULL,
  key text NOT NULL,
  -- The run, the calendar period, or the minute of a rolling window. A change of what the rule counts appends the id of
  -- the firing, so that its new counts can fire.
  period text NOT NULL,
  level integer NOT NULL,
  severity text NOT NULL,
  -- The firing as it is served, without the values of the columns below.
  firing json NOT NULL,
  -- The actions of the level.
  actions json NOT NULL,
  run_id uuid,
  starts_at timestamptz NOT NULL,
  period_ends_at timestamptz,
  silenced boolean NOT NULL,
  resolved_at timestamptz,
  resolved_by text,
  -- When an open firing is notified again, and when it is sent to Alertmanager again.
  repeat_at timestamptz,
  resend_at timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  note text,
  UNIQUE (rule_id, key, period, level)
);
CREATE INDEX alert_firings_starts_at ON alert_firings (starts_at, id);
CREATE INDEX alert_firings_run_id ON alert_firings (run_id);
CREATE INDEX alert_firings_rule_key ON alert_firings (rule_id, key, starts_at);
CREATE INDEX alert_firings_open ON alert_firings (rule_id, key) WHERE resolved_at IS NULL;

-- Commands of firings to runs, each once; executed after the commit of the firing.
CREATE TABLE alert_commands (
  id uuid PRIMARY KEY,
  firing_id uuid NOT NULL REFERENCES alert_firings (id) ON DELETE CASCADE,
  -- Position of the action in the level.
  action integer NOT NULL,
  run_id uuid NOT NULL,
  command json NOT NULL,
  created_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  done_at timestamptz,
  error text,
  UNIQUE (firing_id, action)
);
CREATE INDEX alert_commands_next ON alert_commands (next_attempt_at) WHERE done_at IS NULL;

-- Notifications about runs that match are suppressed until then.
CREATE TABLE alert_silences (
  id uuid PRIMARY KEY,
  match text NOT NULL,
  until timestamptz NOT NULL,
  reason text NOT NULL,
  author text NOT NULL,
  created_at timestamptz NOT NULL
);

-- Money that admitted runs may still spend of a budget: one row for each run and key of a rule with admission.
CREATE TABLE alert_reservations (
  rule_id text NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE,
  run_id uuid NOT NULL,
  key text NOT NULL,
  period text NOT NULL,
  -- Billionths of a dollar.
  amount double precision NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (rule_id, key, period, run_id)
);
CREATE INDEX alert_reservations_run_id ON alert_reservations (run_id);

-- A trigger, so that code that deletes runs does not depend on alerts. A firing of a period stays without its run.
CREATE FUNCTION forget_run_alerts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM alert_memories WHERE run_id IN (SELECT id FROM deleted);
  DELETE FROM alert_marks WHERE run_id IN (SELECT id FROM deleted);
  DELETE FROM alert_deadlines WHERE run_id IN (SELECT id FROM deleted);
  DELETE FROM alert_reservations WHERE run_id IN (SELECT id FROM deleted);
  DELETE FROM alert_commands WHERE run_id IN (SELECT id FROM deleted);
  DELETE FROM alert_firings WHERE run_id IN (SELECT id FROM deleted) AND starts_with(period, run_id::text);
  UPDATE alert_firings SET run_id = NULL WHERE run_id IN (SELECT id FROM deleted);
  RETURN NULL;
END
$$;
CREATE TRIGGER runs_forget_alerts AFTER DELETE ON runs
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION forget_run_alerts();

-- Audit, access and processes -----------------------------------------------------------------------------------------

CREATE TABLE audit_log (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Identifies the caller; `actor_name` is for readers.
  actor text NOT NULL,
  actor_type text NOT NULL,
  action text NOT NULL,
  resource text NOT NULL,
  resource_id text,
  details json NOT NULL,
  request_id text,
  created_at timestamptz NOT NULL,
  -- Entries of the same millisecond keep their order.
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  actor_name text,
  client_address text
);
CREATE INDEX audit_log_created_at ON audit_log (created_at, ordinal);
CREATE INDEX audit_log_actor ON audit_log (actor, created_at);
CREATE INDEX audit_log_action ON audit_log (action, created_at);
CREATE INDEX audit_log_resource ON audit_log (resource, resource_id, created_at);
CREATE INDEX audit_log_resource_id ON audit_log (resource_id, created_at);

-- A ticket opens the stream of one run once, instead of a key (docs/reference/http.md#tickets). Only its hash is
-- stored: a reader of the table can open nothing.
CREATE TABLE stream_tickets (
  hash bytea PRIMARY KEY,
  run_id uuid NOT NULL,
  actor text NOT NULL,
  actor_type text NOT NULL,
  role text NOT NULL,
  expires_at timestamptz NOT NULL,
  actor_name text
);
CREATE INDEX stream_tickets_expires_at ON stream_tickets (expires_at);

-- The key of confirmation tokens of MCP clients, and the tokens that were used (docs/reference/mcp.md#confirmation).
CREATE TABLE mcp_secret (
  id boolean PRIMARY KEY CHECK (id),
  secret text NOT NULL
);
CREATE TABLE mcp_used_tokens (
  nonce text PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX mcp_used_tokens_expires_at ON mcp_used_tokens (expires_at);

-- Saved searches (docs/reference/search.md#views). The built-in views are not stored.
CREATE TABLE views (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  resource text NOT NULL,
  q text NOT NULL,
  columns text[] NOT NULL,
  sort text,
  owner text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  owner_name text,
  is_private boolean NOT NULL
);
CREATE UNIQUE INDEX views_name_key ON views (resource, name) WHERE NOT is_private;
CREATE UNIQUE INDEX views_private_name_key ON views (resource, owner, name) WHERE is_private;

-- Requests of each client over all processes (THROTTLE_STORE=postgres). Not logged: a row is worth one window of time.
CREATE UNLOGGED TABLE request_budgets (
  client text PRIMARY KEY,
  spent bigint NOT NULL,
  window_ends timestamptz NOT NULL,
  blocked_until timestamptz NOT NULL
);

-- Each process reports itself every few seconds (docs/reference/admin.md#processes). Not logged: after a crash all
-- processes report again.
CREATE UNLOGGED TABLE processes (
  seat int PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  shards int NOT NULL,
  observed_runs int NOT NULL,
  oldest_append_ms int NOT NULL,
  reconnects int NOT NULL
);

-- Labels of runs, for searches ----------------------------------------------------------------------------------------

-- The texts, numbers and flags of a run's metadata by their dotted names (docs/reference/search.md#query), without the
-- descriptor and the cancel callback, which holds a secret. Bounded, so that an index can hold each of them: the
-- function reads the first 1,000 values and keeps 100.
CREATE FUNCTION labels_of(metadata json) RETURNS TABLE (name text, value text) LANGUAGE sql IMMUTABLE AS $$
  WITH RECURSIVE part AS (
    SELECT key AS name, value, 1 AS depth FROM json_each(metadata)
    WHERE key NOT IN ('executionRequest', 'cancelCallback')
    UNION ALL
    SELECT part.name || coalesce('.' || inside.key, ''), inside.value, depth + 1
    FROM part CROSS JOIN LATERAL (
      SELECT key, value FROM json_each(CASE json_typeof(part.value) WHEN 'object' THEN part.value ELSE '{}' END)
      UNION ALL
      SELECT NULL, value
      FROM json_array_elements(CASE json_typeof(part.value) WHEN 'array' THEN part.value ELSE '[]' END)
    ) AS inside
    WHERE depth < 5
  )
  SELECT DISTINCT left(found.name, 200), left(found.value #>> '{}', 400)
  FROM (SELECT part.name, part.value FROM part
        WHERE json_typeof(part.value) NOT IN ('object', 'array', 'null') LIMIT 1000) AS found
  LIMIT 100
$$;

CREATE TABLE run_labels (
  run_id uuid NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  name text NOT NULL,
  value text NOT NULL
);
CREATE INDEX run_labels_run ON run_labels (run_id);
CREATE INDEX run_labels_value ON run_labels (name, value, run_id);

CREATE FUNCTION label_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM run_labels WHERE run_id = NEW.id;
  END IF;
  INSERT INTO run_labels SELECT NEW.id, l.name, l.value FROM labels_of(NEW.metadata) AS l;
  RETURN NULL;
END
$$;
CREATE TRIGGER runs_label AFTER INSERT ON runs FOR EACH ROW EXECUTE FUNCTION label_run();
CREATE TRIGGER runs_label_again AFTER UPDATE OF metadata ON runs
FOR EACH ROW WHEN (OLD.metadata::text IS DISTINCT FROM NEW.metadata::text) EXECUTE FUNCTION label_run();

-- Counts of the log, for `total` of GET /events -----------------------------------------------------------------------

-- Block `n` of a level counts the seqs from (n << level) + 1 to (n + 1) << level. A total over any part of the log is
-- the sum of a few blocks and of the rows at both ends. A block is counted once no event can come into it any more, by
-- the first reader that finds it uncounted; a delete of events makes their blocks uncounted again. Appends do not touch
-- this table.
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

-- Counts every closed block that is not counted: the smallest ones from the events, the larger ones from the smaller.
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

-- A trigger, so that code that deletes events does not depend on the blocks.
CREATE FUNCTION forget_event_blocks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Every delete holds the lock, shared, until its end; a count of blocks needs it alone, so that no count includes
  -- events that are being deleted.
  PERFORM pg_advisory_xact_lock_shared(7266422);
  DELETE FROM event_blocks b USING (
    SELECT DISTINCT level, (seq - 1) >> level AS block FROM deleted CROSS JOIN unnest(ARRAY[10, 15, 20]) AS level
  ) AS touched
  WHERE b.level = touched.level AND b.block = touched.block;
  RETURN NULL;
END
$$;
CREATE TRIGGER canonical_events_forget_blocks AFTER DELETE ON canonical_events
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION forget_event_blocks();

-- Sums over runs and key events by time (docs/reference/events.md#tallies) --------------------------------------------
-- No overview and no count of runs reads the runs one by one. Ended runs rarely change: `fold_tallies` adds each of
-- them to the sums once, and remembers the row that it added. Triggers put the id of an ended run that changes, or is
-- deleted, into `tally_changes`. A reader adds up the sums, the rows of `tally_changes`, and the open runs, so its
-- answer is exact at any moment, however late the folding is, and no append waits for a row that another has changed.

-- The signals and decisions of the log, for charts by time.
CREATE TABLE key_events (
  run_id uuid NOT NULL,
  seq bigint NOT NULL,
  ts timestamptz NOT NULL,
  type text NOT NULL,
  -- Outcome of a decision, where it has one.
  positive boolean,
  PRIMARY KEY (run_id, seq)
);
CREATE INDEX key_events_type_ts ON key_events (type, ts) INCLUDE (run_id, positive);
CREATE INDEX key_events_seq ON key_events (seq);

-- The participants of each run; written under the lock of the run's head.
CREATE TABLE run_participants (
  run_id uuid NOT NULL,
  participant_id text NOT NULL,
  messages integer NOT NULL,
  signals integer NOT NULL,
  -- Of its signals.
  confidence_sum double precision NOT NULL,
  confidence_count integer NOT NULL,
  -- Of its evaluations and votes.
  stated_sum double precision NOT NULL DEFAULT 0,
  stated_count integer NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, participant_id)
) WITH (fillfactor = 70);
CREATE INDEX run_participants_participant ON run_participants (participant_id, run_id);

CREATE TABLE tally_changes (run_id uuid NOT NULL);

-- An ended run as the sums contain it.
CREATE TABLE tallied_runs (
  run_id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  status text NOT NULL,
  archived boolean NOT NULL,
  source_ref text,
  scenario_ref text,
  environment text,
  -- Of a failed run.
  error_code text,
  -- Whether its last decision was negative; of a completed run.
  declined boolean NOT NULL,
  tokens numeric NOT NULL,
  -- US dollars.
  cost numeric NOT NULL,
  -- Microseconds from its start to its end; of a completed run that has both times.
  took bigint,
  events integer NOT NULL DEFAULT 0,
  -- US dollars, part of `cost`.
  guessed numeric NOT NULL DEFAULT 0
);
CREATE INDEX tallied_runs_created_at ON tallied_runs (created_at) INCLUDE (ended_at, took);
CREATE INDEX tallied_runs_ended_at ON tallied_runs (ended_at);
-- Figures of ended runs rarely change; those of open runs change with every append, and an index would cost too much.
CREATE INDEX tallied_runs_tokens ON tallied_runs (tokens, run_id);
CREATE INDEX tallied_runs_cost ON tallied_runs (cost, run_id);
CREATE INDEX tallied_runs_events ON tallied_runs (events, run_id);

CREATE SEQUENCE tally_version;

-- The ended runs of one source, scenario, environment and error (`kind`, a digest of them) that were created (axis
-- `created`) or ended (axis `ended`) within one minute, hour or day of UTC.
CREATE TABLE run_tallies (
  axis text NOT NULL,
  unit text NOT NULL,
  at timestamptz NOT NULL,
  kind uuid NOT NULL,
  source_ref text,
  scenario_ref text,
  environment text,
  error_code text,
  runs integer NOT NULL,
  completed integer NOT NULL,
  failed integer NOT NULL,
  cancelled integer NOT NULL,
  declined integer NOT NULL,
  tokens numeric NOT NULL,
  cost numeric NOT NULL,
  guessed numeric NOT NULL,
  took numeric NOT NULL,
  timed integer NOT NULL,
  -- Number of the last change, ascending: a reader that caches sums knows whether they are still right.
  version bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (axis, unit, at, kind)
) WITH (fillfactor = 70);
CREATE INDEX run_tallies_empty ON run_tallies (at) WHERE runs = 0;

CREATE TABLE run_totals (
  status text NOT NULL,
  archived boolean NOT NULL,
  runs bigint NOT NULL,
  PRIMARY KEY (status, archived)
);

-- Signals and decisions of the log up to `tallied_key_events.seq`, by minute, hour and day.
CREATE TABLE key_event_tallies (
  unit text NOT NULL,
  at timestamptz NOT NULL,
  signals bigint NOT NULL,
  decisions bigint NOT NULL,
  positive bigint NOT NULL,
  negative bigint NOT NULL,
  PRIMARY KEY (unit, at)
) WITH (fillfactor = 70);
CREATE TABLE tallied_key_events (seq bigint NOT NULL);
INSERT INTO tallied_key_events VALUES (0);

-- Key events in the sums whose run was deleted later.
CREATE TABLE removed_key_events (ts timestamptz NOT NULL, type text NOT NULL, positive boolean);

-- The contribution of each run to the sums, ended or not.
CREATE VIEW run_contributions AS
SELECT r.id AS run_id, r.created_at, r.ended_at, r.status, r.archived_at IS NOT NULL AS archived, r.source_ref,
       r.scenario_ref, r.environment,
       CASE WHEN r.status = 'failed' THEN coalesce(nullif(r.error_code, ''), 'UNKNOWN') END AS error_code,
       coalesce(NOT decision.positive, false) AS declined, coalesce(m.total_tokens, 0)::numeric AS tokens,
       coalesce(m.estimated_cost_usd, 0)::numeric AS cost,
       CASE WHEN r.status = 'completed' AND r.ended_at < r.started_at THEN 0
            WHEN r.status = 'completed' THEN (extract(epoch FROM r.ended_at - r.started_at) * 1000000)::bigint
       END AS took,
       coalesce(h.last_index, 0) AS events, coalesce(m.guessed_cost_usd, 0)::numeric AS guessed
FROM runs r
LEFT JOIN run_metrics m ON m.run_id = r.id
LEFT JOIN run_heads h ON h.run_id = r.id
LEFT JOIN LATERAL (
  SELECT positive FROM key_events
  WHERE run_id = r.id AND type = 'decision.finalized' AND r.status = 'completed' AND m.decision_count > 0
  ORDER BY seq DESC LIMIT 1
) AS decision ON true;

-- Current figures of the runs that `tallied_runs` does not contain as they are now.
CREATE VIEW moving_figures AS
SELECT r.id AS run_id, coalesce(m.total_tokens, 0)::numeric AS tokens,
       coalesce(m.estimated_cost_usd, 0)::numeric AS cost, coalesce(h.last_index, 0) AS events
FROM (
  SELECT id FROM runs WHERE status IN ('queued', 'starting', 'binding_session', 'running', 'suspended')
  UNION
  SELECT run_id FROM tally_changes
) AS moving
JOIN runs r USING (id)
LEFT JOIN run_metrics m ON m.run_id = r.id
LEFT JOIN run_heads h ON h.run_id = r.id;

-- Current figures of all runs.
CREATE VIEW run_figures AS
SELECT run_id, tokens, cost, events FROM tallied_runs t
WHERE NOT EXISTS (SELECT FROM tally_changes c WHERE c.run_id = t.run_id)
UNION ALL
SELECT run_id, tokens, cost, events FROM moving_figures;

CREATE FUNCTION note_changed_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tally_changes (run_id) VALUES (NEW.id);
  RETURN NULL;
END
$$;
CREATE TRIGGER runs_note_change
AFTER INSERT OR UPDATE OF status, archived_at, source_ref, scenario_ref, environment ON runs
FOR EACH ROW WHEN (NEW.status IN ('completed', 'failed', 'cancelled')) EXECUTE FUNCTION note_changed_run();

-- A trigger, so that code that deletes runs does not depend on the sums.
CREATE FUNCTION forget_run_insights() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The lock of `fold_tallies`, shared: no fold adds key events to the sums at the same time.
  PERFORM pg_advisory_xact_lock_shared(7266422);
  INSERT INTO tally_changes (run_id) SELECT id FROM deleted;
  WITH gone AS (DELETE FROM key_events WHERE run_id IN (SELECT id FROM deleted) RETURNING seq, ts, type, positive)
  INSERT INTO removed_key_events (ts, type, positive)
  SELECT ts, type, positive FROM gone WHERE seq <= (SELECT seq FROM tallied_key_events);
  DELETE FROM run_participants WHERE run_id IN (SELECT id FROM deleted);
  RETURN NULL;
END
$$;
CREATE TRIGGER runs_forget_insights AFTER DELETE ON runs
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION forget_run_insights();

-- Adds the remembered contributions of these runs to the sums, or subtracts them (`sign` -1).
CREATE FUNCTION add_to_tallies(ids uuid[], sign integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  change bigint := nextval('tally_version');
BEGIN
  INSERT INTO run_tallies AS known
  SELECT axis.name, unit, date_trunc(unit, axis.at, 'UTC'),
         md5(row(t.source_ref, t.scenario_ref, t.environment, t.error_code)::text)::uuid, t.source_ref, t.scenario_ref,
         t.environment, t.error_code, sign * count(*), sign * count(*) FILTER (WHERE t.status = 'completed'),
         sign * count(*) FILTER (WHERE t.status = 'failed'), sign * count(*) FILTER (WHERE t.status = 'cancelled'),
         sign * count(*) FILTER (WHERE t.declined), sign * sum(t.tokens), sign * sum(t.cost),
         sign * sum(t.guessed), sign * coalesce(sum(t.took), 0), sign * count(t.took), change
  FROM tallied_runs t
  CROSS JOIN LATERAL (VALUES ('created', t.created_at), ('ended', t.ended_at)) AS axis (name, at)
  CROSS JOIN unnest(ARRAY['minute', 'hour', 'day']) AS unit
  WHERE t.run_id = ANY(ids) AND axis.at IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ON CONFLICT (axis, unit, at, kind) DO UPDATE
  SET runs = known.runs + excluded.runs, completed = known.completed + excluded.completed,
      failed = known.failed + excluded.failed, cancelled = known.cancelled + excluded.cancelled,
      declined = known.declined + excluded.declined, tokens = known.tokens + excluded.tokens,
      cost = known.cost + excluded.cost, guessed = known.guessed + excluded.guessed, took = known.took + excluded.took, timed = known.timed + excluded.timed,
      version = excluded.version;
  INSERT INTO run_totals AS known
  SELECT status, archived, sign * count(*) FROM tallied_runs WHERE run_id = ANY(ids) GROUP BY 1, 2
  ON CONFLICT (status, archived) DO UPDATE SET runs = known.runs + excluded.runs;
END
$$;

-- Adds up to `most` changed runs, and all committed key events, to the sums; returns whether these were all. Does
-- nothing, and returns true, while another process folds or a transaction deletes events.
CREATE FUNCTION fold_tallies(most integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  changed uuid[];
  folded bigint;
  watermark bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7266422) THEN
    RETURN true;
  END IF;
  WITH taken AS (
    DELETE FROM tally_changes WHERE ctid = ANY(ARRAY(SELECT ctid FROM tally_changes LIMIT most)) RETURNING run_id
  )
  SELECT array_agg(DISTINCT run_id) INTO changed FROM taken;
  IF changed IS NOT NULL THEN
    PERFORM add_to_tallies(changed, -1);
    DELETE FROM tallied_runs WHERE run_id = ANY(changed);
    INSERT INTO tallied_runs
    SELECT * FROM run_contributions WHERE run_id = ANY(changed) AND status IN ('completed', 'failed', 'cancelled');
    PERFORM add_to_tallies(changed, 1);
    DELETE FROM run_tallies WHERE runs = 0;
  END IF;

  SELECT seq INTO folded FROM tallied_key_events;
  watermark := event_watermark();
  INSERT INTO key_event_tallies AS known
  SELECT unit, date_trunc(unit, m.ts, 'UTC'), coalesce(sum(sign) FILTER (WHERE m.type = 'signal.emitted'), 0),
         coalesce(sum(sign) FILTER (WHERE m.type = 'decision.finalized'), 0),
         coalesce(sum(sign) FILTER (WHERE m.positive), 0), coalesce(sum(sign) FILTER (WHERE NOT m.positive), 0)
  FROM (
    SELECT 1 AS sign, ts, type, positive FROM key_events WHERE seq > folded AND seq <= watermark
    UNION ALL
    SELECT -1, ts, type, positive FROM removed_key_events
  ) AS m CROSS JOIN unnest(ARRAY['minute', 'hour', 'day']) AS unit
  GROUP BY 1, 2
  ON CONFLICT (unit, at) DO UPDATE
  SET signals = known.signals + excluded.signals, decisions = known.decisions + excluded.decisions,
      positive = known.positive + excluded.positive, negative = known.negative + excluded.negative;
  DELETE FROM removed_key_events;
  UPDATE tallied_key_events SET seq = watermark WHERE seq < watermark;
  RETURN changed IS NULL OR cardinality(changed) < most;
END
$$;

-- The number of runs of a status, or of any (null), with the archived ones or without.
CREATE FUNCTION count_runs(wanted text, with_archived boolean) RETURNS bigint LANGUAGE sql STABLE AS $$
  WITH pending AS MATERIALIZED (SELECT DISTINCT run_id FROM tally_changes)
  SELECT coalesce((
      SELECT sum(t.runs) FROM run_totals t
      WHERE (wanted IS NULL OR t.status = wanted) AND (with_archived OR NOT t.archived)
    ), 0)::bigint - (
      SELECT count(*) FROM pending JOIN tallied_runs t USING (run_id)
      WHERE (wanted IS NULL OR t.status = wanted) AND (with_archived OR NOT t.archived)
    ) + (
      SELECT count(*) FROM pending JOIN runs r ON r.id = pending.run_id
      WHERE r.status IN ('completed', 'failed', 'cancelled') AND (wanted IS NULL OR r.status = wanted)
        AND (with_archived OR r.archived_at IS NULL)
    ) + (
      SELECT count(*) FROM runs r
      WHERE r.status IN ('queued', 'starting', 'binding_session', 'running', 'suspended')
        AND (wanted IS NULL OR r.status = wanted) AND (with_archived OR r.archived_at IS NULL)
    )
$$;
