-- When a recorded call counts (docs/reference/alerts.md#late), the same as `countedAt` in
-- packages/domain/src/RunTimes.ts. `data` is that of its event, `kept` the age up to which its own time counts.
CREATE FUNCTION counted_at(data json, arrived timestamptz, kept interval) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN own.at <= arrived AND own.at > arrived - kept THEN own.at ELSE arrived END
  FROM (SELECT coalesce(data ->> 'sentAt', CASE WHEN data ->> 'startedAt' IS NOT NULL THEN data ->> 'endedAt' END) AS said) AS s
  CROSS JOIN LATERAL (SELECT CASE WHEN s.said ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$' THEN s.said::timestamptz END AS at) AS own
$$;

-- When a run of telemetry began by its spans: it counts there in sums. Null for a run that counts at its creation.
ALTER TABLE runs ADD COLUMN counted_at timestamptz;

-- As before, with `counted_at`.
CREATE OR REPLACE VIEW run_contributions AS
SELECT r.id AS run_id, coalesce(r.counted_at, r.created_at) AS created_at, r.ended_at, r.status,
       r.archived_at IS NOT NULL AS archived, r.source_ref, r.scenario_ref, r.environment,
       CASE WHEN r.status = 'failed' THEN coalesce(nullif(r.error_code, ''), 'UNKNOWN') END AS error_code,
       coalesce(NOT decision.positive, false) AS declined, coalesce(m.total_tokens, 0)::numeric AS tokens,
       coalesce(m.estimated_cost_usd, 0)::numeric AS cost,
       CASE WHEN r.status = 'completed' AND r.ended_at < r.started_at THEN 0
            WHEN r.status = 'completed' THEN (extract(epoch FROM r.ended_at - r.started_at) * 1000000)::bigint
       END AS took,
       coalesce(h.last_index, 0) AS events, coalesce(m.guessed_cost_usd, 0)::numeric AS guessed,
       nullif(scenario_of(r.runtime_kind, r.scenario_ref, r.source_ref), coalesce(r.source_ref, r.scenario_ref)) AS scenario
FROM runs r
LEFT JOIN run_metrics m ON m.run_id = r.id
LEFT JOIN run_heads h ON h.run_id = r.id
LEFT JOIN LATERAL (
  SELECT positive FROM key_events
  WHERE run_id = r.id AND type = 'decision.finalized' AND r.status = 'completed' AND m.decision_count > 0
  ORDER BY seq DESC LIMIT 1
) AS decision ON true;

DROP TRIGGER runs_note_change ON runs;
CREATE TRIGGER runs_note_change
AFTER INSERT OR UPDATE OF status, archived_at, source_ref, scenario_ref, environment, counted_at ON runs
FOR EACH ROW WHEN (NEW.status IN ('completed', 'failed', 'cancelled')) EXECUTE FUNCTION note_changed_run();

UPDATE runs SET counted_at = first.at
FROM (
  SELECT id, (metadata ->> 'firstSpanAt')::timestamptz AS at FROM runs
  WHERE runtime_kind = 'otlp' AND metadata ->> 'firstSpanAt' ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$'
) AS first
WHERE first.id = runs.id AND first.at < runs.created_at AND first.at > runs.created_at - interval '366 days';

-- Keys of rules are folded (docs/reference/search.md#folding). `label` is the text as it was written first; null where
-- it is the key.
ALTER TABLE alert_counters ADD COLUMN label text;

WITH unfolded AS (
  DELETE FROM alert_counters c USING alert_rules u
  WHERE u.id = c.rule_id AND u.rule ->> 'per' NOT IN ('run', 'all') AND c.key <> fold_text(c.key)
  RETURNING c.*
)
INSERT INTO alert_counters AS known (rule_id, key, label, period, part, value, n, ends_at)
SELECT c.rule_id, fold_text(c.key), min(c.key), c.period, c.part,
       CASE WHEN u.rule ->> 'measure' = 'repeats' THEN max(c.value) ELSE sum(c.value) END, sum(c.n), max(c.ends_at)
FROM unfolded c JOIN alert_rules u ON u.id = c.rule_id
GROUP BY c.rule_id, fold_text(c.key), c.period, c.part, u.rule ->> 'measure'
ON CONFLICT (rule_id, key, period, part) DO UPDATE
SET value = CASE WHEN (SELECT rule ->> 'measure' FROM alert_rules u WHERE u.id = known.rule_id) = 'repeats'
                 THEN greatest(known.value, excluded.value) ELSE known.value + excluded.value END,
    n = known.n + excluded.n, ends_at = greatest(known.ends_at, excluded.ends_at);

UPDATE alert_firings f SET key = fold_text(f.key)
FROM (
  SELECT x.id, row_number() OVER (
           PARTITION BY x.rule_id, fold_text(x.key), x.period, x.level ORDER BY x.key = fold_text(x.key) DESC, x.starts_at, x.id
         ) AS nth
  FROM alert_firings x JOIN alert_rules u ON u.id = x.rule_id WHERE u.rule ->> 'per' NOT IN ('run', 'all')
) AS named
WHERE named.id = f.id AND named.nth = 1 AND f.key <> fold_text(f.key);

DELETE FROM alert_reservations v USING alert_reservations w
WHERE w.rule_id = v.rule_id AND w.run_id = v.run_id AND w.period = v.period AND fold_text(w.key) = fold_text(v.key)
  AND w.key < v.key;
UPDATE alert_reservations SET key = fold_text(key) WHERE key <> fold_text(key);

-- The books of a calendar period stay open for calls that arrive later.
UPDATE alert_counters c SET ends_at = c.ends_at + interval '366 days'
FROM alert_rules u WHERE u.id = c.rule_id AND u.rule ->> 'window' IN ('day', 'week', 'month');
