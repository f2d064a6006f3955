-- Passkeys by which persons sign their answers. One that was deleted signs nothing; retention deletes its row.
CREATE TABLE people.passkeys (
  id uuid PRIMARY KEY,
  person text NOT NULL,
  name text NOT NULL,
  credential_id text NOT NULL UNIQUE,
  -- COSE key of ES256.
  public_key bytea NOT NULL,
  -- Host of the page for which it was made.
  rp_id text NOT NULL,
  -- Uses as its device counts them; a copy of the key falls behind.
  counter bigint NOT NULL,
  enrolled_at timestamptz NOT NULL,
  used_at timestamptz,
  revoked_at timestamptz
);

CREATE INDEX passkeys_of_person ON people.passkeys (person, enrolled_at);
CREATE INDEX passkeys_revoked ON people.passkeys (revoked_at) WHERE revoked_at IS NOT NULL;

-- Random bytes that a passkey has to sign, each once: the nonce of an answer to an item, or of an enrolment.
CREATE TABLE people.passkey_challenges (
  nonce bytea PRIMARY KEY,
  person text NOT NULL,
  item uuid REFERENCES people.items,
  expires_at timestamptz NOT NULL
);

CREATE INDEX passkey_challenges_of_person ON people.passkey_challenges (person, expires_at);
CREATE INDEX passkey_challenges_expires ON people.passkey_challenges (expires_at);
CREATE INDEX passkey_challenges_of_item ON people.passkey_challenges (item) WHERE item IS NOT NULL;

-- The assertion of the passkey that signed an answer, with what it has signed.
ALTER TABLE people.answers ADD COLUMN passkey jsonb;
