-- Each statement is a commit of its own.
-- A row of `deliveries` is an event of an application, with the state of its delivery to the URL of its setting: `unsent`
-- when the setting had none. `sequence` is the event's place in the stream of its application; `device_sequence` counts the
-- events of one device within the application. Rows of earlier releases have neither.

-- Only on SQLite.
ALTER TABLE deliveries ADD COLUMN sequence INTEGER;
ALTER TABLE deliveries ADD COLUMN device_sequence INTEGER;
ALTER TABLE failing_receivers ADD COLUMN streamed_at INTEGER; -- when the stream got the event; told_at: another receiver

-- Only on PostgreSQL.
ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS sequence INTEGER;
ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS device_sequence INTEGER;
ALTER TABLE failing_receivers ADD COLUMN IF NOT EXISTS streamed_at INTEGER;

CREATE INDEX IF NOT EXISTS deliveries_in_order ON deliveries (application_id, sequence) WHERE sequence IS NOT NULL;

-- Lists of deliveries leave these rows out.
CREATE INDEX IF NOT EXISTS deliveries_unsent ON deliveries (application_id, delivery_id) WHERE status = 'unsent';

-- Stays empty: its identity gives the numbers of events.
CREATE TABLE IF NOT EXISTS event_numbers (number INTEGER PRIMARY KEY AUTOINCREMENT);

-- The number of the last event of each device of an application; with the empty device_id, of the last event of the
-- application that was removed because it was old. An index of the events by device would give the former, but each event
-- would change a page of it.
CREATE TABLE IF NOT EXISTS event_counts (
  application_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (application_id, device_id)
) WITHOUT ROWID;

-- The place up to which a reader of the stream, by its name, has handled the events.
CREATE TABLE IF NOT EXISTS event_consumers (
  application_id TEXT NOT NULL,
  name TEXT NOT NULL,
  after_sequence INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (application_id, name)
) WITHOUT ROWID;

-- The number of the next event. A transaction gets its identifier before the number, so that readers can tell from the
-- identifiers of running transactions which numbers are decided. A node of the release before gives each event one, too.

-- Only on PostgreSQL.
CREATE OR REPLACE FUNCTION next_event_number() RETURNS BIGINT LANGUAGE sql VOLATILE AS $$
  SELECT CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('event_numbers_number_seq') END
$$;
ALTER TABLE deliveries ALTER COLUMN sequence SET DEFAULT next_event_number();
