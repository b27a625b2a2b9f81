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
/** Lets a blocked delivery be sent, not before its time. The three values are the time of the change. */
export const RELEASED = `status = 'pending', updated_at = ?,
  next_attempt_at = CASE WHEN next_attempt_at > ? THEN next_attempt_at ELSE ? END`;
/** The columns that an attempt needs, of a delivery `e` and its event `d`. */
export const ATTEMPTED = `e.event_id AS "deliveryId", d.body, e.attempts, e.round, d.created_at AS "createdAt", d.traceparent,
  e.sequence, d.device_sequence AS "deviceSequence"`;
/**
 * Selects the rows `alias` that are not through, of the device of a row of `of`. With an equality of the devices SQLite reads
 * all deliveries to the endpoint, also those that are through.
 */
export const OF_ITS_DEVICE = (alias: string, of = 'endpoint_deliveries'): string =>
  `${alias}.application_id = ${of}.application_id AND ${alias}.endpoint_id = ${of}.endpoint_id AND ${alias}.${OPEN}
   AND ${alias}.device_id >= ${of}.device_id AND ${alias}.device_id <= ${of}.device_id`;
/** The number of the first delivery of the device of a row of `of` that is not through. */
export const firstOfDevice = (of = 'endpoint_deliveries'): string =>
  `(SELECT b.sequence FROM endpoint_deliveries b WHERE ${OF_ITS_DEVICE('b', of)} ORDER BY b.device_id, b.sequence LIMIT 1)`;
export const IS_FIRST = `endpoint_deliveries.sequence = ${firstOfDevice()}`;
