-- Persons who have signed in to the page. The cookie of each is 32 random bytes; only its hash is stored.
CREATE TABLE people.sign_ins (
  token_sha256 bytea PRIMARY KEY,
  -- The stable id of the person: the subject of its token, or the name of its key.
  person text NOT NULL,
  name text,
  -- Set for a sign-in with a key: it ends with the key, and has the role of the key.
  key_sha256 bytea,
  -- The rights as the issuer gave them at the sign-in; null for a key.
  role text,
  is_voter boolean NOT NULL DEFAULT false,
  groups jsonb NOT NULL DEFAULT '[]',
  -- When the person signed in at the issuer, as its token says; a key has no such time.
  auth_time timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  CHECK ((key_sha256 IS NULL) = (role IS NOT NULL))
);

CREATE INDEX sign_ins_expires ON people.sign_ins (expires_at);

-- Who may answer an item beside those of its scenario. Nothing takes an item from a person who is assigned to it.
CREATE TABLE people.item_assignees (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item uuid NOT NULL REFERENCES people.items,
  -- `person:` or `group:` and an id; null for an item that was returned to those who are assigned already.
  assignee text,
  added_by text NOT NULL,
  reason text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX item_assignees_once ON people.item_assignees (item, assignee) WHERE assignee IS NOT NULL;
CREATE INDEX item_assignees_of_item ON people.item_assignees (item, id);
