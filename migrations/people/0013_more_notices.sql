-- When the delegate of a delegation that took effect was notified of the questions that were open; those of before are
-- not notified of again.
ALTER TABLE people.delegations ADD COLUMN noticed_at timestamptz;
UPDATE people.delegations SET noticed_at = now();

CREATE INDEX delegations_unnoticed ON people.delegations (from_at) WHERE noticed_at IS NULL AND revoked_at IS NULL;

-- When the mail about an enrolment was made; those of before have none.
ALTER TABLE people.passkeys ADD COLUMN noticed_at timestamptz;
UPDATE people.passkeys SET noticed_at = now();

CREATE INDEX passkeys_unnoticed ON people.passkeys (enrolled_at) WHERE noticed_at IS NULL;
