-- A context may be large, and a list shows many runs: what lists show of the metadata is kept beside the whole, so that a
-- page reads nothing else. Left out are the submitted descriptor, values over 4,096 bytes, and what comes after 65,536
-- bytes of others; the keys of left out values are kept apart.
CREATE FUNCTION listed_metadata_entries(whole json)
RETURNS TABLE (key text, value json, place bigint, listed boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT key, value, place, small AND sum(CASE WHEN small THEN bytes ELSE 0 END) OVER (ORDER BY place) <= 65536
  FROM (
    SELECT key, value, place, octet_length(key) + octet_length(value::text) AS bytes,
           octet_length(key) <= 4096 AND octet_length(value::text) <= 4096 AS small
    FROM json_each(whole) WITH ORDINALITY AS entries(key, value, place)
    WHERE key <> 'executionRequest'
  ) AS judged
$$;
-- ;;
CREATE FUNCTION listed_metadata(whole json) RETURNS json LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ('{' || coalesce(string_agg(to_json(key)::text || ':' || value::text, ',' ORDER BY place), '') || '}')::json
  FROM listed_metadata_entries(whole) WHERE listed
$$;
-- ;;
-- At most 100 keys, of at most 200 characters.
CREATE FUNCTION omitted_metadata(whole json) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(left(key, 200) ORDER BY place), '{}')
  FROM (SELECT key, place FROM listed_metadata_entries(whole) WHERE NOT listed ORDER BY place LIMIT 100) AS omitted
$$;
-- ;;
ALTER TABLE runs
  ADD COLUMN listed_metadata json GENERATED ALWAYS AS (listed_metadata(metadata)) STORED,
  ADD COLUMN omitted_metadata text[] GENERATED ALWAYS AS (omitted_metadata(metadata)) STORED;
