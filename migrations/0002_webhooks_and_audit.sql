-- Webhook subscriptions with their outbox, and the audit log.

CREATE TABLE webhooks (
  id uuid PRIMARY KEY,
  url text NOT NULL,
  events text[] NOT NULL DEFAULT '{}',
  secret text NOT NULL,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
-- ;;
-- The outbox: a delivery is written in the transaction of the event it tells about.
CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  webhook_id uuid NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  run_id uuid NOT NULL,
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  event text NOT NULL,
  payload json NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  response_status integer,
  error_message text,
  created_at timestamptz NOT NULL,
  delivered_at timestamptz
);
-- ;;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, ordinal) WHERE status = 'pending';
-- ;;
CREATE INDEX webhook_deliveries_created_at ON webhook_deliveries (created_at);
-- ;;
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, ordinal);
-- ;;
CREATE INDEX webhook_deliveries_run ON webhook_deliveries (run_id);
-- ;;
CREATE TABLE audit_log (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  actor text NOT NULL,
  actor_type text NOT NULL,
  action text NOT NULL,
  resource text NOT NULL,
  resource_id text,
  details json NOT NULL,
  request_id text,
  created_at timestamptz NOT NULL
);
-- ;;
CREATE INDEX audit_log_created_at ON audit_log (created_at, id);
-- ;;
CREATE INDEX audit_log_actor ON audit_log (actor, created_at);
-- ;;
CREATE INDEX audit_log_action ON audit_log (action, created_at);
-- ;;
CREATE INDEX audit_log_resource ON audit_log (resource, resource_id, created_at);
