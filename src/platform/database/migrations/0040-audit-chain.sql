-- Each statement is a commit of its own.
-- Entries of the audit log are sealed when they are complete: each gets a position, and the hash of itself and of the entry
-- before it. A sealed entry is never changed. It is removed only from the beginning of the chain, after the end of what
-- is removed was stored. Entries of earlier releases stay without a position.

-- Only on SQLite.
ALTER TABLE audit_log ADD COLUMN position INTEGER;

-- Only on SQLite.
ALTER TABLE audit_log ADD COLUMN hash TEXT;

-- Only on PostgreSQL.
ALTER TABLE audit_log ADD COLUMN IF NOT EXISTS position INTEGER;

-- Only on PostgreSQL.
ALTER TABLE audit_log ADD COLUMN IF NOT EXISTS hash TEXT;

CREATE UNIQUE INDEX IF NOT EXISTS audit_log_by_position ON audit_log (position) WHERE position IS NOT NULL;

CREATE TABLE IF NOT EXISTS audit_chain (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  position INTEGER NOT NULL, -- of the last sealed entry
  hash TEXT NOT NULL, -- of that entry
  cut_position INTEGER NOT NULL, -- of the last entry that retention has removed
  cut_hash TEXT NOT NULL, -- of that entry
  first_id INTEGER NOT NULL -- entries up to this auditId may be of an earlier release, and stay without a position
);

-- Only on SQLite.
CREATE TRIGGER IF NOT EXISTS audit_log_is_kept BEFORE UPDATE ON audit_log WHEN OLD.position IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a sealed entry of the audit log is never changed'); END;

-- Only on SQLite.
CREATE TRIGGER IF NOT EXISTS audit_log_stays BEFORE DELETE ON audit_log
WHEN OLD.position > (SELECT cut_position FROM audit_chain)
BEGIN SELECT RAISE(ABORT, 'a sealed entry of the audit log is removed by retention only'); END;

-- Only on SQLite.
CREATE TRIGGER IF NOT EXISTS audit_objects_are_kept BEFORE UPDATE ON audit_objects
BEGIN SELECT RAISE(ABORT, 'objects of the audit log are never changed'); END;

-- Only on SQLite.
CREATE TRIGGER IF NOT EXISTS audit_objects_stay BEFORE DELETE ON audit_objects
WHEN (SELECT position FROM audit_log WHERE audit_id = OLD.audit_id) > (SELECT cut_position FROM audit_chain)
BEGIN SELECT RAISE(ABORT, 'a sealed entry of the audit log is removed by retention only'); END;

-- A statement ends at its semicolon, so those of the functions are written as \073.

-- Only on PostgreSQL.
CREATE OR REPLACE FUNCTION refuse_change_of_audit() RETURNS trigger LANGUAGE plpgsql AS
  E'BEGIN RAISE EXCEPTION \'a sealed entry of the audit log is never changed, and removed by retention only\'\073 END\073';

-- Only on PostgreSQL.
CREATE OR REPLACE FUNCTION refuse_removal_of_audit() RETURNS trigger LANGUAGE plpgsql AS
  E'BEGIN IF OLD.position > (SELECT cut_position FROM audit_chain) THEN
    RAISE EXCEPTION \'a sealed entry of the audit log is removed by retention only\'\073 END IF\073 RETURN OLD\073 END\073';

-- Only on PostgreSQL.
CREATE OR REPLACE FUNCTION refuse_removal_of_audit_objects() RETURNS trigger LANGUAGE plpgsql AS
  E'BEGIN IF (SELECT position FROM audit_log WHERE audit_id = OLD.audit_id) > (SELECT cut_position FROM audit_chain) THEN
    RAISE EXCEPTION \'a sealed entry of the audit log is removed by retention only\'\073 END IF\073 RETURN OLD\073 END\073';

-- Only on PostgreSQL.
CREATE OR REPLACE TRIGGER audit_log_is_kept BEFORE UPDATE ON audit_log FOR EACH ROW WHEN (OLD.position IS NOT NULL)
  EXECUTE FUNCTION refuse_change_of_audit();

-- Only on PostgreSQL.
CREATE OR REPLACE TRIGGER audit_log_stays BEFORE DELETE ON audit_log FOR EACH ROW WHEN (OLD.position IS NOT NULL)
  EXECUTE FUNCTION refuse_removal_of_audit();

-- Only on PostgreSQL.
CREATE OR REPLACE TRIGGER audit_log_is_not_emptied BEFORE TRUNCATE ON audit_log
  EXECUTE FUNCTION refuse_change_of_audit();

-- Only on PostgreSQL.
CREATE OR REPLACE TRIGGER audit_objects_are_kept BEFORE UPDATE ON audit_objects
  EXECUTE FUNCTION refuse_change_of_audit();

-- Only on PostgreSQL.
CREATE OR REPLACE TRIGGER audit_objects_stay BEFORE DELETE ON audit_objects FOR EACH ROW
  EXECUTE FUNCTION refuse_removal_of_audit_objects();

-- Only on PostgreSQL.
CREATE OR REPLACE TRIGGER audit_objects_are_not_emptied BEFORE TRUNCATE ON audit_objects
  EXECUTE FUNCTION refuse_change_of_audit();
