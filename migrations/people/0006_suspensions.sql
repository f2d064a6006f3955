-- Suspensions and resumes of sessions that wait for people alone. The service writes its row before its call, so a
-- suspension without a row is of another party; rows of `other` are what the service has observed.
CREATE TABLE people.suspensions (
  session_id text NOT NULL,
  n integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('suspend', 'resume')),
  actor text NOT NULL CHECK (actor IN ('service', 'other')),
  -- The end of the session before the act, Unix milliseconds: a resume moves it, so it identifies a suspension.
  expires_ms double precision NOT NULL,
  intent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Set right before the call: a row without it has had no call.
  called_at timestamptz,
  outcome text CHECK (outcome IN ('done', 'refused', 'not-made')),
  -- Why the runtime refused it.
  reason text,
  settled_at timestamptz,
  PRIMARY KEY (session_id, n)
);

-- Metrics count these at each reading.
CREATE INDEX suspensions_by_outcome ON people.suspensions (outcome) WHERE kind = 'suspend' AND actor = 'service';
