-- Rules count what telemetry reports apart (docs/reference/alerts.md#telemetry), also in marks. The author of a mark
-- that telemetry has stated is its source.
CREATE FUNCTION telemetry_of_mark(author text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN starts_with(author, 'source:') THEN substr(author, 8) END
$$;

ALTER TABLE alert_marks ADD COLUMN telemetry text;

-- As before, with `telemetry`.
CREATE OR REPLACE FUNCTION note_alert_mark() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was boolean := TG_OP = 'UPDATE' AND OLD.replaced_by IS NULL AND OLD.deleted_at IS NULL;
  is_current boolean := NEW.replaced_by IS NULL AND NEW.deleted_at IS NULL;
  score double precision :=
    CASE WHEN was THEN coalesce(OLD.number, OLD.flag::int) ELSE coalesce(NEW.number, NEW.flag::int) END;
BEGIN
  IF was <> is_current AND score IS NOT NULL AND EXISTS (
    SELECT FROM alert_rules WHERE enabled AND rule ->> 'measure' = 'markBelow:' || NEW.name
  ) THEN
    INSERT INTO alert_marks (run_id, name, at, value, n, telemetry)
    SELECT NEW.run_id, NEW.name, NEW.created_at, sign * round(score * 1000000000), sign, telemetry_of_mark(NEW.author)
    FROM (SELECT CASE WHEN was THEN -1 ELSE 1 END AS sign) AS change;
  END IF;
  RETURN NULL;
END
$$;
