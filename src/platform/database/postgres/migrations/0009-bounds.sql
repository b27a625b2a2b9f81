-- Whose an object is: transfers of the embedded store are shared between developers.
CREATE INDEX versions_by_binary ON versions (binary_id);
