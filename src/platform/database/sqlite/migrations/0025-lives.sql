-- The life that the database is in: it begins with each start, so that no number that an earlier one gave out is given again.
CREATE TABLE lives (
  one INTEGER PRIMARY KEY, -- always 1: there is one row, and none before the first start
  life_id TEXT NOT NULL,
  place TEXT NOT NULL, -- of a server: which database this was then
  begun_at BIGINT NOT NULL
);
-- One that is older than this table was started before.
INSERT INTO lives (one, life_id, place, begun_at)
  SELECT 1, '', '', 0 WHERE EXISTS (SELECT 1 FROM signing_keys) OR EXISTS (SELECT 1 FROM developers)
    OR EXISTS (SELECT 1 FROM transactions) OR EXISTS (SELECT 1 FROM audit_log);
