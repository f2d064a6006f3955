-- A second request with the key of an artifact is answered with the first artifact of the run.

ALTER TABLE artifacts ADD COLUMN idempotency_key text;

CREATE UNIQUE INDEX artifacts_idempotency_key ON artifacts (run_id, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
