/** Selects the rows of an endpoint. */
export const OF_KEY = 'application_id = ? AND endpoint_id = ?';
/** Selects the deliveries that are not through; an index has only these. */
export const OPEN = `status IN ('pending', 'blocked')`;
/**
 * Selects those of one endpoint, and of them those that are pending. The last term is always true: without it SQLite reads all
 * deliveries to the endpoint, because its primary key names as many columns as the index.
 */
export const OPEN_OF_ONE = `${OPEN} AND device_id >= ''`;
export const PENDING = `status = 'pending' AND next_attempt_at >= 0`;
/** The columns that an attempt needs, of a delivery `e` and its event `d`. */
export const ATTEMPTED = `e.event_id AS "deliveryId", d.body, e.attempts, e.round, d.created_at AS "createdAt", d.traceparent,
  e.sequence, d.device_sequence AS "deviceSequence"`;
/** The first delivery of its device that is not through. */
export const IS_FIRST = `NOT EXISTS (SELECT 1 FROM endpoint_deliveries b WHERE b.application_id = endpoint_deliveries.application_id
  AND b.endpoint_id = endpoint_deliveries.endpoint_id AND b.device_id = endpoint_deliveries.device_id
  AND b.${OPEN} AND b.sequence < endpoint_deliveries.sequence)`;
