-- The labels of a run's metadata (docs/reference/http.md#query) from the first 1,000 texts, numbers and flags: the
-- function of migration 0012 compared all of them with each other before it kept 100.
CREATE OR REPLACE FUNCTION labels_of(metadata json) RETURNS TABLE (name text, value text) LANGUAGE sql IMMUTABLE AS $$
  WITH RECURSIVE part AS (
    SELECT key AS name, value, 1 AS depth FROM json_each(metadata) WHERE key NOT IN ('executionRequest', 'cancelCallback')
    UNION ALL
    SELECT part.name || coalesce('.' || inside.key, ''), inside.value, depth + 1
    FROM part CROSS JOIN LATERAL (
      SELECT key, value FROM json_each(CASE json_typeof(part.value) WHEN 'object' THEN part.value ELSE '{}' END)
      UNION ALL
      SELECT NULL, value FROM json_array_elements(CASE json_typeof(part.value) WHEN 'array' THEN part.value ELSE '[]' END)
    ) AS inside
    WHERE depth < 5
  )
  SELECT DISTINCT left(found.name, 200), left(found.value #>> '{}', 400)
  FROM (SELECT part.name, part.value FROM part
        WHERE json_typeof(part.value) NOT IN ('object', 'array', 'null') LIMIT 1000) AS found
  LIMIT 100
$$;
