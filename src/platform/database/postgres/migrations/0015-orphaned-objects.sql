-- Objects that no version refers to, and since when that is known: they are removed a day later, when no upload URL can be
-- valid any more.
CREATE TABLE orphaned_objects (
  binary_id TEXT COLLATE "C" PRIMARY KEY,
  found_at BIGINT NOT NULL
);
