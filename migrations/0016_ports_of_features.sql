-- What features do when marks change is code of theirs, called by the one writer of marks, and not a trigger.
DROP TRIGGER marks_note_alert ON marks;
DROP FUNCTION note_alert_mark();
DROP TRIGGER marks_note_archive ON marks;

-- The run of a changed row, so that the deletion of the run reads no other table.
ALTER TABLE archive_changes ADD COLUMN run_id uuid;
DELETE FROM archive_changes c WHERE table_name = 'marks' AND NOT EXISTS (SELECT FROM marks m WHERE m.id = c.id);
UPDATE archive_changes c SET run_id = m.run_id FROM marks m WHERE c.table_name = 'marks' AND m.id = c.id;
UPDATE archive_changes SET run_id = id WHERE table_name = 'runs';
ALTER TABLE archive_changes ALTER COLUMN run_id SET NOT NULL;
CREATE INDEX archive_changes_run_id ON archive_changes (run_id);

-- Only changes of runs come by this function.
CREATE OR REPLACE FUNCTION note_archive_change(changed text, row_id uuid) RETURNS void LANGUAGE sql AS $$
  INSERT INTO archive_changes (table_name, id, run_id, change)
  SELECT changed, row_id, row_id, nextval('archive_change') WHERE EXISTS (SELECT FROM archive_state)
  ON CONFLICT (table_name, id) DO UPDATE SET change = excluded.change
$$;

-- The alerts follow deletions and claims of runs by hooks as well.
DROP TRIGGER runs_forget_alerts ON runs;
DROP FUNCTION forget_run_alerts();
DROP TRIGGER run_tombstones_note_alert ON run_tombstones;
DROP FUNCTION note_alert_deletion();
DROP TRIGGER runs_note_alert_claim ON runs;
DROP FUNCTION note_alert_claim();
-- Without CASCADE a deletion of runs fails that calls no hook.
ALTER TABLE alert_claimed_runs DROP CONSTRAINT alert_claimed_runs_run_id_fkey;
ALTER TABLE alert_claimed_runs ADD FOREIGN KEY (run_id) REFERENCES runs (id);
