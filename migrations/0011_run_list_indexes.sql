-- Pages of runs are found in an index alone, the skipped ones too: every filter and order that lists ask for most is in it.
DROP INDEX runs_created_at;
-- ;;
CREATE INDEX runs_created_at ON runs (created_at, id) INCLUDE (status, archived_at);
-- ;;
DROP INDEX runs_updated_at;
-- ;;
CREATE INDEX runs_updated_at ON runs (updated_at, id) INCLUDE (status, archived_at);
-- ;;
DROP INDEX runs_status_created_at;
-- ;;
CREATE INDEX runs_status_created_at ON runs (status, created_at, id) INCLUDE (archived_at);
