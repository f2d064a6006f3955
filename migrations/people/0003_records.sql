-- What the log of the control plane is to have about items and answers: an outbox, in the order of the changes.
CREATE TABLE people.records (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_id text NOT NULL,
  item uuid NOT NULL REFERENCES people.items ON DELETE CASCADE,
  -- A repeated post of a record has the effect of one.
  idempotency_key text NOT NULL UNIQUE,
  kind text NOT NULL,
  label text NOT NULL,
  content json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  tries integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  -- Why the control plane does not have it; null for one that it has.
  ended_reason text
);

CREATE INDEX records_due ON people.records (due_at, id) WHERE ended_at IS NULL;
CREATE INDEX records_of_item ON people.records (item);

-- Whether the person could read the votes of others elsewhere, such as in the console.
ALTER TABLE people.answers ADD COLUMN could_have_seen boolean NOT NULL DEFAULT true;

-- Since when the message of an answer whose session is gone is looked up in the log of the control plane.
ALTER TABLE people.answers ADD COLUMN sought_at timestamptz;
