-- Each statement is a commit of its own.
-- Who could write the database could write the chain of the audit log anew. The seal is the end of the chain, encrypted with
-- the key of the operator; null: there is none.

-- Only on SQLite.
ALTER TABLE audit_chain ADD COLUMN seal TEXT;

-- Only on PostgreSQL.
ALTER TABLE audit_chain ADD COLUMN IF NOT EXISTS seal TEXT;
