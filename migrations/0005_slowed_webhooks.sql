-- A subscription whose last attempts have timed out gets one attempt at a time until its receiver answers.
ALTER TABLE webhooks
  -- Attempts in a row without an answer in time.
  ADD COLUMN timeouts integer NOT NULL DEFAULT 0,
  ADD COLUMN slowed_at timestamptz;
-- Alerts have slots of their own: this finds the next one behind any number of other deliveries.
CREATE INDEX webhook_deliveries_alerts ON webhook_deliveries (webhook_id, next_attempt_at, ordinal)
  WHERE status = 'pending' AND event LIKE 'alert.%';
