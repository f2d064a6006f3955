-- Steps of an escalation: each adds who may answer an item, once, and takes it from no person.
CREATE TABLE people.escalations (
  item uuid NOT NULL REFERENCES people.items,
  -- Its index in the rule `escalate`.
  step integer NOT NULL,
  assignees jsonb NOT NULL,
  -- `delegation`: to a person who may not answer, which makes the first step at once.
  cause text NOT NULL CHECK (cause IN ('time', 'delegation')),
  reach text NOT NULL CHECK (reach IN ('persons', 'unknown', 'none')),
  -- Why no person is known to be reached.
  why text,
  made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (item, step)
);

-- Metrics count these at each reading.
CREATE INDEX escalations_by_reach ON people.escalations (reach);

-- The step that added an assignee; null for a person who did.
ALTER TABLE people.item_assignees ADD COLUMN step integer;

-- Rights of one person that another one uses for some time.
CREATE TABLE people.delegations (
  id uuid PRIMARY KEY,
  by_person text NOT NULL,
  to_person text NOT NULL,
  -- The groups of its author by a token when it was made; those of directories are read when it is used.
  by_groups jsonb NOT NULL,
  -- `pack/scenario`, with or without a version; null: each scenario.
  scenarios jsonb,
  reason text NOT NULL,
  from_at timestamptz NOT NULL,
  until_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  -- The reason is erased when it has been over for some time, or with a session in which it was used.
  erased_at timestamptz,
  CHECK (to_person <> by_person),
  CHECK (until_at > from_at AND until_at <= from_at + interval '2160 hours')
);

CREATE INDEX delegations_by ON people.delegations (by_person, created_at);
CREATE INDEX delegations_to ON people.delegations (to_person, until_at);
CREATE INDEX delegations_until ON people.delegations (until_at) WHERE revoked_at IS NULL;
CREATE INDEX delegations_kept ON people.delegations (least(until_at, revoked_at)) WHERE erased_at IS NULL;

-- The person whose delegation gave the right to an answer.
ALTER TABLE people.answers ADD COLUMN delegation uuid REFERENCES people.delegations;
ALTER TABLE people.answers ADD COLUMN on_behalf_of text
  CHECK (on_behalf_of IS NULL OR (origin = 'person' AND on_behalf_of <> person));
ALTER TABLE people.answers ADD CHECK ((delegation IS NULL) = (on_behalf_of IS NULL));
CREATE INDEX answers_of_delegation ON people.answers (delegation) WHERE delegation IS NOT NULL;
CREATE INDEX audit_unreachable ON people.audit (id) WHERE action = 'item.unreachable';
