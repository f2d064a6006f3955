-- A policy version may be longer than an entry of a B-tree can be, and is only asked for whole.
DROP INDEX runs_policy_version;
-- ;;
CREATE INDEX runs_policy_version ON runs USING hash (policy_version);
