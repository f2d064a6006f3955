-- What each process says of itself every few seconds. Not logged: after a crash they all say it anew.
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
