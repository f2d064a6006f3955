-- Events of questions of which persons are to be notified, written in the transaction of the event. Whom they concern
-- is decided after it, by the directory of the pack.
CREATE TABLE people.notice_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item uuid NOT NULL REFERENCES people.items ON DELETE CASCADE,
  event text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  expanded_at timestamptz
);

CREATE INDEX notice_events_due ON people.notice_events (id) WHERE expanded_at IS NULL;

-- The notices: one of each person, event and channel, under a stable id. No row has an address.
CREATE TABLE people.notices (
  id text PRIMARY KEY,
  -- Null for a digest, which is about all open questions of a person.
  item uuid REFERENCES people.items ON DELETE CASCADE,
  event text NOT NULL,
  person text NOT NULL,
  channel text NOT NULL,
  -- `digested`: a digest has it in its stead. `obsolete`: there was no question any more before it was sent.
  state text NOT NULL CHECK (state IN ('pending', 'sent', 'failed', 'digested', 'obsolete')),
  reason text,
  tries integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz
);

CREATE INDEX notices_due ON people.notices (due_at, id) WHERE state = 'pending';
CREATE INDEX notices_of_item ON people.notices (item) WHERE item IS NOT NULL;
CREATE INDEX notices_of_person ON people.notices (person) WHERE item IS NOT NULL;

ALTER TABLE people.items
  -- When its persons are reminded; null without a deadline, and for a short one.
  ADD COLUMN remind_at timestamptz,
  ADD COLUMN reminded_at timestamptz,
  -- Since when it is known that no notice of it reached a person.
  ADD COLUMN undelivered_at timestamptz;

-- Metrics count these at each reading.
CREATE INDEX notices_by_state ON people.notices (state);
CREATE INDEX items_undelivered ON people.items (id) WHERE undelivered_at IS NOT NULL;

CREATE INDEX items_remind ON people.items (remind_at)
  WHERE state = 'open' AND remind_at IS NOT NULL AND reminded_at IS NULL;
