-- Which telemetry may join the run of a session (docs/reference/ingest.md#joining).

-- The session that a trace names and may not join: its own run is linked to that session.
ALTER TABLE otlp_traces ADD COLUMN linked_session text;
-- The session that a valid token of the request allows its spans to join.
ALTER TABLE otlp_inbox ADD COLUMN joins text;

-- Signs these tokens, in all processes.
CREATE TABLE telemetry_token_key (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  secret bytea NOT NULL
);
INSERT INTO telemetry_token_key (secret)
VALUES (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
