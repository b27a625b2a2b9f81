-- Deliveries that were given up: few, and what one looks for.
CREATE INDEX deliveries_given_up ON deliveries (application_id, status, delivery_id) WHERE status IN ('exhausted', 'gone');
