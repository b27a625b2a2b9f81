-- What can be installed on devices. A name is unique within its line: `software` holds the packages of developers and
-- the service's own system packages, `firmware` the firmware of devices.

CREATE TABLE packages (
  line TEXT NOT NULL, -- software | firmware
  package TEXT NOT NULL,
  developer_id TEXT REFERENCES developers (developer_id), -- null: the service's own
  display_name TEXT,
  for_all INTEGER NOT NULL, -- 1: every application of the developer may distribute it (op 13)
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (line, package)
);
-- Unique, so that versions can be read along them in order without sorting.
CREATE UNIQUE INDEX packages_by_owner ON packages (line, developer_id, package);
CREATE UNIQUE INDEX packages_own ON packages (line, package) WHERE developer_id IS NULL;

-- Applications that may distribute a package that is not for all of them (op 23).
CREATE TABLE package_permissions (
  line TEXT NOT NULL,
  package TEXT NOT NULL,
  application_id TEXT NOT NULL,
  PRIMARY KEY (line, package, application_id),
  FOREIGN KEY (line, package) REFERENCES packages (line, package)
);

CREATE TABLE versions (
  line TEXT NOT NULL,
  package TEXT NOT NULL,
  version TEXT NOT NULL,
  sort_key TEXT NOT NULL, -- ASCII; compared byte by byte it gives the order of versions
  description TEXT,
  binary_id TEXT NOT NULL, -- names the object; a version that is registered anew gets another
  distribution_started_at BIGINT, -- null: not distributing
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (line, package, version),
  FOREIGN KEY (line, package) REFERENCES packages (line, package)
);
-- Every list is newest first: a page is a range of this index.
CREATE UNIQUE INDEX versions_newest_first ON versions (line, package, sort_key DESC, version DESC);
