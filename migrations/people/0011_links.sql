-- Personal links of persons without a sign-in. The link has 32 random bytes; only their hash is stored.
CREATE TABLE people.links (
  token_sha256 bytea PRIMARY KEY,
  item uuid NOT NULL REFERENCES people.items ON DELETE CASCADE,
  person text NOT NULL,
  -- What the person is asked: a link of another proposal takes no answer.
  proposal_hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  -- SHA-256 of the token and the last code: without the link no code can be guessed from it.
  code_sha256 bytea,
  code_expires_at timestamptz,
  sent_codes integer NOT NULL DEFAULT 0,
  wrong_codes integer NOT NULL DEFAULT 0
);

CREATE INDEX links_of_item ON people.links (item);

-- A message in Slack is a notice too: since when it is to be written, and when it was.
ALTER TABLE people.slack_messages
  ADD COLUMN created_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN sent_at timestamptz;
UPDATE people.slack_messages m SET created_at = coalesce(i.opened_at, m.due_at),
  sent_at = CASE WHEN m.ts IS NOT NULL THEN coalesce(i.opened_at, m.due_at) END
FROM people.items i WHERE i.id = m.item;
