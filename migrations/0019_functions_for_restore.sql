-- A restore runs without a search path and computes the generated columns of runs: the functions that they call have to
-- find the functions that those call in turn.
ALTER FUNCTION listed_metadata(json) SET search_path FROM CURRENT;
-- ;;
ALTER FUNCTION omitted_metadata(json) SET search_path FROM CURRENT;
