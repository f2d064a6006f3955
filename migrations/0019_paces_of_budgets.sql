-- What budgets have spent in the last day, by parts of five minutes: the pace of a budget is that of the last hour or
-- day (docs/reference/alerts.md#budgets). Units as in alert_counters. Without what telemetry reports apart.
CREATE TABLE alert_paces (
  rule_id text NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE,
  key text NOT NULL,
  starts_at timestamptz NOT NULL,
  value double precision NOT NULL,
  PRIMARY KEY (rule_id, key, starts_at)
) WITH (fillfactor = 70);
CREATE INDEX alert_paces_starts_at ON alert_paces (starts_at);

-- Earlier releases have kept no parts.
ALTER TABLE alert_cursor ADD COLUMN paced_since timestamptz NOT NULL DEFAULT now();

-- When the counts of a rule began; unknown for the rules of earlier releases.
ALTER TABLE alert_rules ADD COLUMN counted_since timestamptz;

-- The alerts that were resolved last.
CREATE INDEX alert_firings_resolved_at ON alert_firings (resolved_at, id) WHERE resolved_at IS NOT NULL;
