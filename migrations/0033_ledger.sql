-- What the ledger is going to hold (docs/reference/seal.md#ledger): written with the seal, tombstone or audit entry,
-- and deleted when it has a number. The MAC is by a key that is not in the database.
CREATE TABLE ledger_pending (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  subject text NOT NULL,
  digest text NOT NULL,
  mac text
);
-- ;;
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
-- ;;
CREATE INDEX ledger_subject ON ledger (kind, subject);
