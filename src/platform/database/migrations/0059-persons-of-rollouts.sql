-- Each statement is a commit of its own.
-- person: the name of the person who did it, as it was then; null for the application itself, the token of administration, or
-- the service.

-- Only on SQLite.
ALTER TABLE rollout_entries ADD COLUMN person TEXT;

-- Only on PostgreSQL.
ALTER TABLE rollout_entries ADD COLUMN IF NOT EXISTS person TEXT;
