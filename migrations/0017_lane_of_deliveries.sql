-- A delivery names the run and the firing that it reports. Some alerts have no run, and a test has neither.
ALTER TABLE webhook_deliveries ALTER COLUMN run_id DROP NOT NULL, ADD COLUMN firing_id uuid;
UPDATE webhook_deliveries d SET run_id = NULL, firing_id = d.run_id
  WHERE event LIKE 'alert.%' AND NOT EXISTS (SELECT FROM runs r WHERE r.id = d.run_id)
    AND NOT EXISTS (SELECT FROM run_tombstones t WHERE t.run_id = d.run_id);
UPDATE webhook_deliveries SET run_id = NULL WHERE event = 'webhook.test';

-- The deliveries of a lane reach a subscription one after the other.
ALTER TABLE webhook_deliveries
  ADD COLUMN lane uuid NOT NULL GENERATED ALWAYS AS (coalesce(run_id, firing_id, id)) STORED;
DROP INDEX webhook_deliveries_lane;
CREATE INDEX webhook_deliveries_lane ON webhook_deliveries (webhook_id, lane, ordinal) WHERE status = 'pending';
