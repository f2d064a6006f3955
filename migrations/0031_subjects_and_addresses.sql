-- The subject of a token tells callers apart, its name is for readers; each audit entry holds the address of its client.
ALTER TABLE audit_log ADD COLUMN actor_name text, ADD COLUMN client_address text;
-- ;;
ALTER TABLE views ADD COLUMN owner_name text;
-- ;;
ALTER TABLE stream_tickets ADD COLUMN actor_name text;
