-- What each key of seals says of itself, signed by it and by the key that it replaced (docs/reference/seal.md#keys).
-- Rows are never changed and never deleted.
CREATE TABLE seal_key_statements (
  key_id text NOT NULL,
  -- The key that it replaced; empty for the first one.
  previous text NOT NULL,
  statement json NOT NULL,
  PRIMARY KEY (key_id, previous)
);
