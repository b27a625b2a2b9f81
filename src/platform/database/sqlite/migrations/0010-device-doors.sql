-- A device that administration has blocked cannot connect.
ALTER TABLE devices ADD COLUMN blocked INTEGER NOT NULL DEFAULT 0;
-- Which client certificates are as good as the credential: null: any that names the device; else the one with this SHA-256
-- fingerprint; none when it is empty.
ALTER TABLE devices ADD COLUMN certificate TEXT;
