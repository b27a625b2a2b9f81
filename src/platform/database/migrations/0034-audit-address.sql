-- Each statement is a commit of its own.
-- The audit log names the address of the client that asked for a change. Entries of earlier releases have none.

-- Only on SQLite.
ALTER TABLE audit_log ADD COLUMN address TEXT;

-- Only on PostgreSQL.
ALTER TABLE audit_log ADD COLUMN IF NOT EXISTS address TEXT;
