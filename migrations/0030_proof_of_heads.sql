-- What a process with the seal's key vouches for (docs/reference/seal.md#proof): a MAC over the end of the run's log by
-- a key that is not in the database. Events up to `proven_after` are not vouched for. The second chain is over the raw
-- frames, from the one behind `frames_after` up to `frames_index`.
ALTER TABLE run_heads
  ADD COLUMN head_mac bytea,
  ADD COLUMN proven_after integer NOT NULL DEFAULT 0,
  ADD COLUMN frames_after integer NOT NULL DEFAULT 0,
  ADD COLUMN frames_index integer NOT NULL DEFAULT 0,
  ADD COLUMN frames_head bytea;
