-- Artifacts of the same millisecond keep the order in which they were stored.
ALTER TABLE artifacts ADD COLUMN ordinal bigint GENERATED ALWAYS AS IDENTITY;
-- ;;
DROP INDEX artifacts_run_created_at;
-- ;;
CREATE INDEX artifacts_run_created_at ON artifacts (run_id, created_at, ordinal);
