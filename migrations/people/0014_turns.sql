-- Seats whose acts come from an agent that speaks A2A, and the turns of each.

-- The agent as the launch has pinned it; null for a seat of a person.
ALTER TABLE people.seats ADD COLUMN agent jsonb;

-- An act of an agent, and an abstention after a failed turn, are the answers of no person.
ALTER TABLE people.answers DROP CONSTRAINT answers_origin_check;
ALTER TABLE people.answers ADD CONSTRAINT answers_origin_check
  CHECK (origin IN ('person', 'deadline', 'agent', 'failure'));

-- The task of an agent for one item. It has no text of the agent.
CREATE TABLE people.turns (
  item uuid PRIMARY KEY REFERENCES people.items ON DELETE CASCADE,
  -- What the agent is sent, and what its act rests on: the session up to this message.
  basis jsonb NOT NULL,
  -- The message that is on its way, or has arrived: the first one, more input, or a repair.
  phase text NOT NULL DEFAULT 'first',
  -- The task of the phase; in a repair none until the agent has a new one.
  task_id text,
  -- The task before a repair.
  repaired_task_id text,
  -- How often the message of the phase was sent, and whether an answer to it has come.
  sends integer NOT NULL DEFAULT 0,
  is_received boolean NOT NULL DEFAULT false,
  -- Messages of all phases that were sent once more.
  resent integer NOT NULL DEFAULT 0,
  -- SHA-256 of the token that the agent sends with notices of the task; null where it sends none.
  notice_sha256 text,
  -- What the agent states that its tasks have used, by phase.
  usage jsonb NOT NULL DEFAULT '{}',
  failure text,
  failure_reason text,
  -- Set when the task needs no cancellation any more.
  released_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX turns_unreleased ON people.turns (created_at) WHERE released_at IS NULL;
