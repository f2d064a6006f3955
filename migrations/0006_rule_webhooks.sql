-- A subscription that an alert rule has made for a URL goes with the last rule that uses it.
ALTER TABLE webhooks ADD COLUMN made_for_rules boolean NOT NULL DEFAULT false;
