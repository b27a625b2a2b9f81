-- What each developer has of what has a quota, counted along with each change.
CREATE TABLE developer_usage (
  developer_id TEXT COLLATE "C" PRIMARY KEY,
  packages BIGINT NOT NULL,
  versions BIGINT NOT NULL,
  stored_bytes BIGINT NOT NULL
);
-- Bytes of the binary of a version, or that an upload URL was given out for.
ALTER TABLE versions ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;
INSERT INTO developer_usage (developer_id, packages, versions, stored_bytes)
  SELECT p.developer_id, COUNT(DISTINCT p.package), COUNT(v.version), 0
  FROM packages p LEFT JOIN versions v ON v.line = p.line AND v.package = p.package
  WHERE p.line = 'software' AND p.developer_id IS NOT NULL GROUP BY p.developer_id;
