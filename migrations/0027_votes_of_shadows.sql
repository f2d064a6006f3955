-- What each shadow of a run voted, and what that would have changed in place of its participant; null without shadows.
-- The names are in FactsRow.ts.
ALTER TABLE run_voters ADD COLUMN shadows json;

-- The rows of runs with shadows are made again.
INSERT INTO run_voter_changes (run_id)
SELECT r.id FROM runs r
WHERE r.id IN (SELECT run_id FROM run_voters) AND r.id IN (SELECT run_id FROM artifacts WHERE kind = 'shadow.acts')
ORDER BY r.id
ON CONFLICT (run_id) DO UPDATE SET version = DEFAULT, due_at = now();
