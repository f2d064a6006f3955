-- How the body of a subscription is written: `slack` and `teams` get messages about questions to people.

ALTER TABLE webhooks ADD COLUMN format text NOT NULL DEFAULT 'generic'
  CHECK (format IN ('generic', 'slack', 'teams'));
