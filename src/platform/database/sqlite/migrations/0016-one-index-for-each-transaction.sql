-- A transaction is in one index by its device: in `transactions_due` while the device must still hear of it, after that in
-- `transactions_done`. A new command writes to one page instead of two, wherever among many its device's page lies.
DROP INDEX transactions_due;
CREATE INDEX transactions_due ON transactions (device_id, transaction_id) WHERE due = 1;
DROP INDEX transactions_by_device;
CREATE INDEX transactions_done ON transactions (device_id, application_id, transaction_id) WHERE due = 0;
