-- Version 2 of the chains of a run (docs/reference/seal-format.md): they cover digests of its texts, so that single
-- texts can be erased. A run keeps the version that it began with.
ALTER TABLE run_heads ADD COLUMN chain_version smallint NOT NULL DEFAULT 1;

-- The random seed of the salts of an event or a raw frame, 16 bytes. After an erasure it is null, and `salts` has the
-- salts of the members that remain, by their pointers. Both are null in version 1.
ALTER TABLE canonical_events ADD COLUMN seed bytea, ADD COLUMN salts json;
ALTER TABLE raw_events ADD COLUMN seed bytea, ADD COLUMN salts json;

-- The chain of the erasures of a run (docs/reference/seal-format.md#erasures). `head` is that after the entry,
-- hexadecimal; `at` has milliseconds.
CREATE TABLE run_erasures (
  run_id uuid NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  position integer NOT NULL,
  target text NOT NULL CHECK (target IN ('event', 'frame')),
  index integer NOT NULL,
  pointer text NOT NULL,
  digest text NOT NULL,
  at timestamptz NOT NULL,
  by text NOT NULL,
  reason text NOT NULL,
  head text NOT NULL,
  PRIMARY KEY (run_id, position)
);

-- Its signed end.
CREATE TABLE run_erasure_ends (
  run_id uuid PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  entries integer NOT NULL,
  head text NOT NULL,
  key_id text,
  signature text
);
