-- Tasks of agents that speak A2A. A task has the id of its session, which is the id of its run. What was said is in
-- the run: a row keeps the inputs until the launch has ended.
CREATE TABLE people.a2a_tasks (
  id uuid PRIMARY KEY,
  -- The actor that began it. No other one finds it.
  caller text NOT NULL,
  -- The caller as a person, who may not answer for a seat of the session; null when it is not known as one.
  requester text,
  context_id text NOT NULL,
  -- The first message, and the hash of the one that launches: they are in the metadata of the run.
  message_id text NOT NULL,
  content_sha256 text NOT NULL,
  -- The skill that a message has named while inputs are required.
  skill text,
  -- What is launched; null while inputs are required.
  scenario_ref text,
  template text,
  -- A text, since jsonb stores no U+0000.
  inputs text,
  -- The state as it was last read.
  state text NOT NULL,
  -- Why inputs are required, or why it failed.
  reason text,
  created_at timestamptz NOT NULL DEFAULT now(),
  state_at timestamptz NOT NULL DEFAULT now(),
  -- Set when the launch has ended, in success or in failure.
  launched_at timestamptz
);

CREATE INDEX a2a_tasks_of_caller ON people.a2a_tasks (caller, created_at DESC, id DESC);
CREATE INDEX a2a_tasks_due ON people.a2a_tasks (created_at) WHERE launched_at IS NULL AND scenario_ref IS NOT NULL;

-- The messages of a caller: each id counts once.
CREATE TABLE people.a2a_messages (
  caller text NOT NULL,
  message_id text NOT NULL,
  task uuid NOT NULL REFERENCES people.a2a_tasks ON DELETE CASCADE,
  content_sha256 text NOT NULL,
  PRIMARY KEY (caller, message_id)
);

CREATE INDEX a2a_messages_of_task ON people.a2a_messages (task);
