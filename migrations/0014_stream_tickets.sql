-- What opens the stream of one run once, in place of a key. Only the hash is kept: who reads the table can open nothing.
CREATE TABLE stream_tickets (
  hash bytea PRIMARY KEY,
  run_id uuid NOT NULL,
  actor text NOT NULL,
  actor_type text NOT NULL,
  role text NOT NULL,
  expires_at timestamptz NOT NULL
);
-- ;;
CREATE INDEX stream_tickets_expires_at ON stream_tickets (expires_at);
