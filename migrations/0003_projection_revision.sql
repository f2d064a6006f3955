-- Raised by every rebuild of the run's projection. A process that remembers the projection of an older revision does not
-- fold on with it, although it stands at the same seq.
ALTER TABLE run_heads ADD COLUMN projection_revision integer NOT NULL DEFAULT 0;
