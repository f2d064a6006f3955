-- A subscription has several deliveries under way, each of another run: what finds them must not walk over the others.

-- When the subscription was last given an attempt: whoever has waited longest comes first.
ALTER TABLE webhooks ADD COLUMN served_at timestamptz;
-- ;;
-- What is due of a subscription; what waits behind an earlier delivery of its run is not due before that one.
CREATE INDEX webhook_deliveries_next ON webhook_deliveries (webhook_id, next_attempt_at, ordinal)
  WHERE status = 'pending';
-- ;;
-- The first pending delivery of a run.
CREATE INDEX webhook_deliveries_lane ON webhook_deliveries (webhook_id, run_id, ordinal) WHERE status = 'pending';
-- ;;
-- What is under way of a subscription.
CREATE INDEX webhook_deliveries_claimed ON webhook_deliveries (webhook_id, claimed_until)
  WHERE status = 'pending' AND claimed_until IS NOT NULL;
-- ;;
DROP INDEX webhook_deliveries_due;
