-- The transaction that changed an item last: the stream of the inbox reads the items that a snapshot does not have yet.
ALTER TABLE people.items
  ADD COLUMN changed_tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
  -- The transaction that opened it.
  ADD COLUMN opened_tx xid8;
-- The same of a seat: a longer session changes what its open items show.
ALTER TABLE people.seats ADD COLUMN changed_tx xid8 NOT NULL DEFAULT pg_current_xact_id();

CREATE INDEX items_changed ON people.items (changed_tx);
CREATE INDEX seats_changed ON people.seats (changed_tx);

-- An index of the rows: a dozen statements change them, and a forgotten note would lose a change.
CREATE FUNCTION people.note_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.changed_tx := pg_current_xact_id();
  IF NEW.state = 'open' AND (TG_OP = 'INSERT' OR OLD.state <> 'open') THEN
    NEW.opened_tx := NEW.changed_tx;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER items_note BEFORE INSERT OR UPDATE ON people.items
  FOR EACH ROW EXECUTE FUNCTION people.note_item();

CREATE FUNCTION people.note_seat() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.changed_tx := pg_current_xact_id();
  RETURN NEW;
END $$;
CREATE TRIGGER seats_note BEFORE UPDATE ON people.seats
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION people.note_seat();

-- Questions of people to the agents of a session: an artifact of the run, and no act.
CREATE TABLE people.questions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item uuid NOT NULL REFERENCES people.items,
  person text NOT NULL,
  text text NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX questions_of_item ON people.questions (item, id);
CREATE INDEX questions_of_person ON people.questions (person, asked_at);
