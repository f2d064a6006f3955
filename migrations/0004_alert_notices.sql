-- Silences are compared with a firing whenever a notification of it is due. `is_notified` is null where a program of an
-- earlier version has opened the firing: notified exactly when it was not silenced. `check_at` is when an open firing
-- is compared with the silences again; a silenced one without it counts older events and stays silent.
ALTER TABLE alert_firings ADD COLUMN is_notified boolean, ADD COLUMN check_at timestamptz;
UPDATE alert_firings SET check_at = now() WHERE silenced AND resolved_at IS NULL AND actions::text <> '[]';
