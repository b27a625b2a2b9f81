-- Certificates with which applications get their tokens, and devices enrol.

-- authentication: `secret`: by the secret, or by one of the certificates if there are any; `certificate`: only by one of
-- the certificates.
ALTER TABLE applications ADD COLUMN authentication TEXT NOT NULL DEFAULT 'secret';

-- JSON, bounded: the certificates, and the names in certificates, that prove who the application is; null: none.
ALTER TABLE applications ADD COLUMN certificates TEXT;

-- PEM: the certificate with which the devices of a batch enrol, the one that they all have, or the CA that has signed
-- theirs; null: they enrol by the code.
ALTER TABLE enrolment_batches ADD COLUMN claim_certificate TEXT;
