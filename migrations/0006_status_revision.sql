-- Counts the changes of a run's status, so that a change can be dropped that was decided on an older one. The runtime's word on a
-- pause may be late, and meanwhile a caller may have resumed the run and suspended it again.
ALTER TABLE runs ADD COLUMN status_revision integer NOT NULL DEFAULT 0;
