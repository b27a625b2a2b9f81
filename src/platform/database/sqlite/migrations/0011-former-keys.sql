-- For a day after op 3 notifications are signed with the former key besides.
ALTER TABLE applications ADD COLUMN former_authentication_key TEXT;
ALTER TABLE applications ADD COLUMN key_replaced_at BIGINT;
