-- How often a delivery was asked for again: an outcome counts only for the round in which its attempt was made.
ALTER TABLE deliveries ADD COLUMN round INTEGER NOT NULL DEFAULT 0;
