-- What the delivery of webhooks and the reading of the audit log need beside the rows themselves.

-- Counted by the worker at the end of each delivery: the list of subscriptions must not count all deliveries ever made.
ALTER TABLE webhooks
  ADD COLUMN succeeded bigint NOT NULL DEFAULT 0,
  ADD COLUMN failed bigint NOT NULL DEFAULT 0,
  ADD COLUMN last_delivered_at timestamptz;
-- ;;
ALTER TABLE webhook_deliveries
  -- Attempts since `queued_at`, the creation or the last redelivery; `attempts` counts all of them.
  ADD COLUMN tries integer NOT NULL DEFAULT 0,
  ADD COLUMN queued_at timestamptz NOT NULL DEFAULT now(),
  -- An attempt is under way until then at the latest. The value of `attempts` says whose: it changes with every claim.
  ADD COLUMN claimed_until timestamptz;
-- ;;
-- Entries of the same millisecond keep their order.
ALTER TABLE audit_log ADD COLUMN ordinal bigint GENERATED ALWAYS AS IDENTITY;
-- ;;
DROP INDEX audit_log_created_at;
-- ;;
CREATE INDEX audit_log_created_at ON audit_log (created_at, ordinal);
-- ;;
CREATE INDEX audit_log_resource_id ON audit_log (resource_id, created_at);
