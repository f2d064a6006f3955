-- A rule whose thresholds have changed compares its counters again, from this key and period on; null when it has.
ALTER TABLE alert_rules ADD COLUMN recheck_after text[];
