-- A receiver that is busy (429 or 503 with Retry-After) holds its whole subscription: no delivery is claimed until then.
ALTER TABLE webhooks ADD COLUMN held_until timestamptz;
