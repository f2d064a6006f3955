-- The hash chain of a run (docs/reference/seal.md#chain): its head after the event `chain_index`. It lags behind
-- `last_index` where events were stored by a release that did not know of it. The last seal is named here too, because
-- what is read of the locked row is always what was committed last.
ALTER TABLE run_heads
  ADD COLUMN chain_index integer NOT NULL DEFAULT 0,
  ADD COLUMN chain_head bytea,
  ADD COLUMN sealed_index integer NOT NULL DEFAULT 0,
  ADD COLUMN sealed_head bytea;
-- ;;
-- What a run's history was at each of its ends, exactly as it is served.
CREATE TABLE run_seals (
  run_id uuid NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  events integer NOT NULL,
  seal json NOT NULL,
  PRIMARY KEY (run_id, events)
);
-- ;;
-- Every public key that has ever sealed: seals outlive the keys that made them.
CREATE TABLE seal_keys (
  key_id text PRIMARY KEY,
  -- The key's 32 bytes, base64url.
  public_key text NOT NULL,
  first_used_at timestamptz NOT NULL DEFAULT now()
);
-- ;;
-- What stays of a deleted run. Its last seal is null when it had none.
CREATE TABLE run_tombstones (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id uuid NOT NULL,
  status text NOT NULL,
  events integer NOT NULL,
  reason text NOT NULL,
  deleted_at timestamptz NOT NULL,
  deleted_by text NOT NULL,
  seal json
);
-- ;;
CREATE INDEX run_tombstones_run_id ON run_tombstones (run_id, id);
