-- Each statement is a commit of its own.
-- How far the audit log was sent to each receiver of syslog messages. A receiver is named by its address.

CREATE TABLE IF NOT EXISTS audit_receivers (
  receiver TEXT PRIMARY KEY,
  position INTEGER NOT NULL, -- of the last entry that the receiver has taken
  sent_at INTEGER NOT NULL
);
