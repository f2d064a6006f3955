-- Messages in Slack about items, one for each person who may answer. They have no text: Slack has it.
CREATE TABLE people.slack_messages (
  item uuid NOT NULL REFERENCES people.items ON DELETE CASCADE,
  -- The stable id; the member of Slack is in the directory alone.
  person text NOT NULL,
  -- The message as Slack names it; null until it is written.
  channel text,
  ts text,
  -- The state of the item that the message shows.
  shown text,
  tries integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(),
  -- Set when the message is not written again.
  ended_at timestamptz,
  -- Why it does not show how the item ended; null for one that does.
  ended_reason text,
  PRIMARY KEY (item, person)
);

CREATE INDEX slack_messages_due ON people.slack_messages (due_at) WHERE ended_at IS NULL;

-- Items whose messages are laid out, with the number of added assignees then: a later one gets a message too.
CREATE TABLE people.slack_items (
  item uuid PRIMARY KEY REFERENCES people.items ON DELETE CASCADE,
  assignees integer NOT NULL
);
