-- Seats, the items of each, and the answers of people. The launch service owns the schema.

CREATE TABLE people.seats (
  session_id text NOT NULL,
  seat text NOT NULL,
  mode_name text NOT NULL,
  scenario_ref text NOT NULL,
  -- Rules as the launch fixed them: a later change of the pack changes no session.
  rules jsonb NOT NULL,
  -- All participants of the session that are people.
  seats jsonb NOT NULL,
  -- Who launched it: no answer of the requester unless the rules allow it.
  requester text,
  -- The last ordinal that was read: an answer waits until a restarted service has read as far again.
  last_ordinal integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Set when the session is over and nothing is left to send.
  ended_at timestamptz,
  ended_state text,
  -- Why no item takes an answer, such as a history that the runtime has dropped.
  unavailable text,
  PRIMARY KEY (session_id, seat)
);

CREATE INDEX seats_open ON people.seats (created_at) WHERE ended_at IS NULL;

-- One nonce for each message that is asked about, common to all seats of the session.
CREATE TABLE people.subjects (
  session_id text NOT NULL,
  ordinal integer NOT NULL,
  nonce bytea NOT NULL,
  PRIMARY KEY (session_id, ordinal)
);

CREATE TABLE people.items (
  id uuid PRIMARY KEY,
  session_id text NOT NULL,
  seat text NOT NULL,
  -- Ordinal of the message that it is about.
  subject integer NOT NULL,
  state text NOT NULL,
  -- Why it is closed.
  reason text,
  -- The members under `proposal_hash`, and the payload as the runtime accepted it.
  hashed jsonb NOT NULL,
  proposal_hash text NOT NULL,
  payload bytea NOT NULL,
  payload_type text NOT NULL,
  basis_ordinal integer,
  created_at timestamptz NOT NULL DEFAULT now(),
  opened_at timestamptz,
  deadline_at timestamptz,
  seen_at timestamptz,
  closed_at timestamptz,
  replaces uuid REFERENCES people.items,
  follows uuid REFERENCES people.items,
  FOREIGN KEY (session_id, seat) REFERENCES people.seats,
  CHECK (replaces IS NULL OR follows IS NULL)
);

-- One item of a subject at a time.
CREATE UNIQUE INDEX items_current ON people.items (session_id, seat, subject)
  WHERE state IN ('waiting', 'open', 'answered', 'sent');
CREATE INDEX items_of_seat ON people.items (session_id, seat, created_at);
CREATE INDEX items_replaces ON people.items (replaces) WHERE replaces IS NOT NULL;
CREATE INDEX items_follows ON people.items (follows) WHERE follows IS NOT NULL;
CREATE INDEX items_open ON people.items (opened_at, id) WHERE state = 'open';

-- One answer of an item, of a person or of the deadline. The row is also the outbox: it is due until it is settled.
CREATE TABLE people.answers (
  item uuid PRIMARY KEY REFERENCES people.items,
  origin text NOT NULL CHECK (origin IN ('person', 'deadline')),
  person text CHECK ((origin = 'person') = (person IS NOT NULL)),
  proof text NOT NULL,
  channel text NOT NULL,
  content jsonb NOT NULL,
  proposal_hash text NOT NULL,
  basis jsonb NOT NULL,
  message_id text NOT NULL,
  message_type text NOT NULL,
  payload bytea NOT NULL,
  payload_sha256 text NOT NULL,
  answered_at timestamptz NOT NULL DEFAULT now(),
  sends integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(),
  accepted_ordinal integer,
  unseen jsonb,
  settled_at timestamptz
);

CREATE INDEX answers_of_person ON people.answers (person, answered_at) WHERE person IS NOT NULL;
CREATE INDEX answers_due ON people.answers (due_at) WHERE settled_at IS NULL;

CREATE TABLE people.audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  item uuid,
  detail jsonb NOT NULL
);
