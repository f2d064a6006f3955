-- The texts of a session are erased when it is over; what counts and proves an answer stays.
ALTER TABLE people.seats ADD COLUMN erased_at timestamptz;

-- The loop of retention finds what is due without a scan.
CREATE INDEX seats_kept ON people.seats (ended_at) WHERE erased_at IS NULL AND ended_at IS NOT NULL;
CREATE INDEX records_waiting ON people.records (session_id) WHERE ended_at IS NULL;

-- Metrics count these at each reading.
CREATE INDEX items_expired ON people.items (id) WHERE state = 'expired';
CREATE INDEX answers_by_origin ON people.answers (origin);
CREATE INDEX audit_ids_taken ON people.audit (id) WHERE action = 'item.id-taken';
CREATE INDEX audit_of_item ON people.audit (item, id) WHERE item IS NOT NULL;
