-- What is inside the binaries of developers' software, read once for each upload (the ETag tells).
CREATE TABLE binary_contents (
  binary_id TEXT COLLATE "C" PRIMARY KEY,
  package TEXT COLLATE "C" NOT NULL, -- as registered
  version TEXT COLLATE "C" NOT NULL,
  etag TEXT COLLATE "C" NOT NULL,
  found_package TEXT COLLATE "C", -- as the file says; null when it could not be read
  found_version_name TEXT COLLATE "C",
  found_version_code BIGINT,
  warning TEXT COLLATE "C", -- how the file differs from what was registered; null when it does not
  read_at BIGINT NOT NULL
);
CREATE INDEX binary_contents_with_warning ON binary_contents (package, version) WHERE warning IS NOT NULL;
