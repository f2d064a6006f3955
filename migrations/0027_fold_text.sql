-- Comparisons that ignore case fold both texts with this function (docs/reference/http.md#folding). lower() alone knows
-- only the letters of the locale, which are those of ASCII in a database of the locale C. ICU knows all of them, and so
-- does pg_c_utf8 (from PostgreSQL 17). NFC makes a letter and its accent one character. The way over upper() makes SS
-- of a sharp s, as its capitals are written, and the small letter of a final sigma depends on its place. Most texts are
-- ASCII, most others are NFC: finding that out costs less than doing it again.
DO $$
DECLARE
  letters text := (
    SELECT collname FROM pg_collation
    WHERE collnamespace = 'pg_catalog'::regnamespace AND collname IN ('und-x-icu', 'pg_c_utf8')
    ORDER BY collname = 'und-x-icu' DESC LIMIT 1
  );
  letter text := 'replace(lower(upper(lower(%s' || coalesce(format(' COLLATE %I', letters), '')
    || '))), chr(962), chr(963)) COLLATE "C"';
  folded text := CASE
    WHEN getdatabaseencoding() <> 'UTF8' THEN 'lower(given)'
    ELSE format('CASE WHEN octet_length(given) = char_length(given) THEN lower(given COLLATE "C")
                      WHEN given IS NFC NORMALIZED THEN %s ELSE %s END',
                format(letter, 'given'), format(letter, 'normalize(given, NFC)'))
  END;
BEGIN
  EXECUTE 'CREATE FUNCTION fold_text(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ' || folded;
END $$;
-- ;;
DROP INDEX runs_scenario_ref;
-- ;;
CREATE INDEX runs_scenario_ref ON runs (fold_text(scenario_ref)) WHERE scenario_ref IS NOT NULL;
-- ;;
-- The haystack of the `search` filter is folded from now on when it is written.
UPDATE runs SET search_text = fold_text(search_text) WHERE octet_length(search_text) <> char_length(search_text);
