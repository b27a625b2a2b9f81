/**
 * Nothing holds back a command `t` of a rollout: the rollout runs, and the device has a place among those that may be at
 * work.
 */
export const GOES_OUT = `NOT EXISTS (SELECT 1 FROM rollouts r WHERE r.rollout_id = t.rollout_id AND r.publishes = 0)
  AND NOT EXISTS (SELECT 1 FROM rollout_members m WHERE m.rollout_id = t.rollout_id AND m.device_id = t.device_id
    AND m.transaction_id = t.transaction_id AND m.code = 'NO_PLACE')`;

/** A promise of the documents that can be seen in the database. */
export interface Invariant {
  /** The promise, as a sentence. */
  readonly promise: string;
  /** The document that makes it. */
  readonly by:
    | 'README.md'
    | `docs/${'architecture' | 'stream' | 'endpoints' | 'security' | 'rollouts' | 'reference'}.md`;
  /** The rows that break it. */
  readonly rows: string;
  /** False if it compares two times: those of a clock that was wrong say nothing. */
  readonly isTimeless?: false;
  /** Whether each command breaks or keeps it alone, so that one that has not changed needs no further look. */
  readonly isOfCommands?: true;
}

/** How many times as many numbers as rows there are: the texts that count and the rows that are counted, side by side. */
const unequal = (key: string, counted: string, rows: string): string =>
  `SELECT ${key}, SUM(n) AS difference FROM (${counted} UNION ALL ${rows}) GROUP BY ${key} HAVING SUM(n) <> 0`;

const FINISHED = `('succeeded', 'failed', 'cancelled')`;

/** Hold after each commit. */
export const ALWAYS: Readonly<Record<string, Invariant>> = {
  'counts of a rollout': {
    promise: 'a rollout counts in the commit of a result: its counts are those of its members',
    by: 'docs/architecture.md',
    rows: unequal(
      'rollout_id, stage, state, code',
      'SELECT rollout_id, stage, state, code, devices AS n FROM rollout_counts',
      `SELECT rollout_id, stage, state, COALESCE(code, '') AS code, -1 AS n FROM rollout_members`,
    ),
  },
  'devices of an application': {
    promise: 'the number of activated devices of an application is that of its devices',
    by: 'docs/architecture.md',
    rows: unequal(
      'application_id',
      'SELECT application_id, activated AS n FROM activated_counts',
      `SELECT application_id, -1 AS n FROM devices WHERE activation = 'activated'`,
    ),
  },
  'usage of a developer': {
    promise: 'the quota of a developer counts the packages and versions that there are',
    by: 'docs/reference.md',
    rows: unequal(
      'developer_id',
      'SELECT developer_id, packages * 1000000 + versions AS n FROM developer_usage',
      `SELECT developer_id, -1000000 AS n FROM packages WHERE line = 'software' AND developer_id IS NOT NULL
       UNION ALL SELECT developer_id, -1 AS n FROM versions JOIN packages USING (line, package)
         WHERE line = 'software' AND developer_id IS NOT NULL`,
    ),
  },
  'one result': {
    promise: 'a finished command has one result, its time, and no parameters any more',
    by: 'README.md',
    isOfCommands: true,
    rows: `SELECT transaction_id, status FROM transactions WHERE (status IN ${FINISHED}) <> (completed_at IS NOT NULL)
       OR (completed_at IS NOT NULL AND parameters IS NOT NULL)`,
  },
  'nobody forgets a command': {
    promise: 'the table of transactions is the only queue: an unfinished command is due',
    by: 'docs/architecture.md',
    rows: `SELECT transaction_id, status FROM transactions WHERE completed_at IS NULL AND due = 0`,
  },
  'commands move': {
    promise: 'a command for a device that has been connected for a minute, and has room for it, is published',
    by: 'README.md',
    isTimeless: false,
    rows: `SELECT transaction_id, device_id FROM transactions t WHERE due = 1 AND attempts = 0
       AND created_at < :now - 60000000
       AND (SELECT c.kind || c.is_open FROM connection_log c WHERE c.device_id = t.device_id
         AND c.at >= (SELECT begun_at FROM lives) ORDER BY c.fact_id DESC LIMIT 1) = 'connected1'
       AND (SELECT c.last_at FROM connection_log c WHERE c.device_id = t.device_id ORDER BY c.fact_id DESC LIMIT 1)
         < :now - 60000000
       AND (SELECT count(*) FROM transactions o WHERE o.device_id = t.device_id AND o.due = 1 AND o.attempts > 0
         AND (o.delivered_at IS NULL OR o.completed_at IS NOT NULL)) < :room
       AND ${GOES_OUT}`,
  },
  'places are given': {
    promise: 'a device that has been connected for a minute gets a place in a rollout that has a free one',
    by: 'docs/rollouts.md',
    isTimeless: false,
    rows: `SELECT m.rollout_id, m.device_id FROM rollout_members m JOIN rollouts r USING (rollout_id)
       WHERE m.state = 'unfinished' AND m.code = 'NO_PLACE' AND r.state = 'running' AND r.publishes = 1
       AND (SELECT c.kind || c.is_open FROM connection_log c WHERE c.device_id = m.device_id
         AND c.at >= (SELECT begun_at FROM lives) ORDER BY c.fact_id DESC LIMIT 1) = 'connected1'
       AND (SELECT c.last_at FROM connection_log c WHERE c.device_id = m.device_id ORDER BY c.fact_id DESC LIMIT 1)
         < :now - 60000000
       AND NOT EXISTS (SELECT 1 FROM rollout_entries e WHERE e.rollout_id = m.rollout_id AND e.at > :now - 60000000)
       AND NOT EXISTS (SELECT 1 FROM rollout_members o WHERE o.rollout_id = m.rollout_id AND o.updated_at > :now - 60000000)
       AND (SELECT count(*) FROM rollout_members o WHERE o.rollout_id = m.rollout_id AND o.state = 'unfinished'
         AND o.code IS NOT 'NO_PLACE') < json_extract(r.plan, '$.maxUnfinished')`,
  },
  'delivered is said by the device': {
    promise: 'a command is delivered only after it was published, and an attempt was counted',
    by: 'docs/architecture.md',
    isOfCommands: true,
    rows: `SELECT transaction_id, status FROM transactions
       WHERE (status IN ('delivered', 'processing') OR delivered_at IS NOT NULL) AND (published_at IS NULL OR attempts = 0)
         AND created_at >= :restoredAt`, // a device may have got an older one in the time that is lost
  },
  'one webhook per result': {
    promise: 'a result has one webhook, whose content is stored with it',
    by: 'README.md',
    rows: `SELECT transaction_id, count(*) AS webhooks FROM deliveries WHERE type IN ('transaction.succeeded', 'transaction.failed', 'transaction.cancelled')
       GROUP BY application_id, transaction_id HAVING count(*) > 1`,
  },
  'no webhook without its result': {
    promise: 'a settlement writes the state and the delivery in one commit',
    by: 'docs/architecture.md',
    isOfCommands: true,
    rows: `SELECT d.transaction_id, d.type, t.status FROM deliveries d JOIN transactions t USING (transaction_id)
       WHERE d.type IN ('transaction.succeeded', 'transaction.failed', 'transaction.cancelled')
         AND d.type <> 'transaction.' || t.status`,
  },
  'somebody looks again': {
    promise: 'a webhook that is not delivered has a next attempt; one that has ended has none',
    by: 'docs/architecture.md',
    rows: `SELECT delivery_id, status FROM deliveries WHERE (status = 'pending') <> (next_attempt_at IS NOT NULL)`,
  },
  'a place for each event': {
    promise: 'an event has a place of its own in the stream; the events of a device are numbered without a gap',
    by: 'docs/stream.md',
    rows: `SELECT application_id, sequence FROM deliveries WHERE sequence IS NOT NULL
         GROUP BY application_id, sequence HAVING count(*) > 1
       UNION ALL SELECT application_id, sequence FROM (SELECT application_id, sequence, device_sequence,
           LAG(device_sequence) OVER (PARTITION BY application_id, device_id ORDER BY sequence) AS former FROM deliveries
           WHERE device_sequence IS NOT NULL) AS events
         WHERE device_sequence <= former OR (device_sequence > former + 1 AND NOT EXISTS
           (SELECT 1 FROM event_counts c WHERE c.application_id = events.application_id AND c.device_id = ''))`,
  },
  'one event of a device at a time': {
    promise: 'an ordered endpoint is sent the next event of a device when the one before was accepted or given up',
    by: 'docs/endpoints.md',
    rows: `SELECT endpoint_id, device_id FROM endpoint_deliveries d JOIN endpoints e USING (application_id, endpoint_id)
       WHERE e.ordered = 1 AND e.enabled = 1 AND d.device_id <> '000000000000000' AND d.status IN ('pending', 'blocked')
       GROUP BY application_id, endpoint_id, device_id HAVING SUM(d.status = 'pending') <> 1
         OR MIN(CASE WHEN d.status = 'pending' THEN d.sequence END) <> MIN(d.sequence)`,
  },
  'an endpoint passes over no event': {
    promise: 'an endpoint takes each event of its types from the stream',
    by: 'docs/endpoints.md',
    rows: `SELECT e.endpoint_id, d.sequence FROM endpoints e JOIN deliveries d USING (application_id)
       WHERE e.types = '' AND e.passed_over = 0 AND d.type <> 'test' AND d.sequence <= e.after_sequence
         AND d.sequence > (SELECT MIN(sequence) FROM endpoint_deliveries t WHERE t.endpoint_id = e.endpoint_id)
         AND NOT EXISTS (SELECT 1 FROM endpoint_deliveries t WHERE t.application_id = e.application_id
           AND t.endpoint_id = e.endpoint_id AND t.sequence = d.sequence)`,
  },
  'tenants apart': {
    promise: 'commands and webhooks belong to the application of their device',
    by: 'docs/security.md',
    rows: `SELECT d.delivery_id FROM deliveries d JOIN transactions t USING (transaction_id)
         WHERE d.application_id <> t.application_id
       UNION ALL SELECT device_id FROM devices JOIN applications USING (application_id)
         WHERE devices.developer_id <> applications.developer_id`,
  },
  'members and commands': {
    promise: 'a member of a rollout and its latest command change in one commit',
    by: 'docs/architecture.md',
    rows: `SELECT m.device_id, m.state, t.status FROM rollout_members m JOIN transactions t USING (transaction_id)
       JOIN rollouts r ON r.rollout_id = m.rollout_id
       WHERE r.at_work = 1 AND ((m.state = 'unfinished' AND t.completed_at IS NOT NULL)
         OR (m.state = 'succeeded' AND t.status <> 'succeeded' AND COALESCE(t.late, '') NOT LIKE '%"succeeded"%'))`,
  },
  'audit is complete': {
    promise: 'sealed entries of the audit log follow one another without a gap',
    by: 'docs/security.md',
    rows: `SELECT position AS had, (SELECT count(*) + cut_position FROM audit_log, audit_chain WHERE audit_log.position IS NOT NULL) AS entries
       FROM audit_chain WHERE position <> (SELECT count(*) FROM audit_log WHERE position IS NOT NULL) + cut_position`,
  },
  'nothing after a pause': {
    promise: 'the commands of a paused rollout are not published',
    by: 'docs/rollouts.md',
    isTimeless: false,
    rows: `SELECT t.transaction_id, t.published_at - e.at AS micros FROM rollouts r
       JOIN rollout_entries e ON e.rollout_id = r.rollout_id AND e.entry = (SELECT MAX(entry) FROM rollout_entries l
         WHERE l.rollout_id = r.rollout_id AND l.event = 'paused')
       JOIN transactions t ON t.rollout_id = r.rollout_id
       WHERE r.state = 'paused' AND t.published_at > e.at`,
  },
  'pauses take back': {
    promise: 'a paused rollout has taken back the commands that were never published, when it says so',
    by: 'docs/rollouts.md',
    rows: `SELECT m.device_id, t.transaction_id FROM rollouts r JOIN rollout_members m ON m.rollout_id = r.rollout_id
       JOIN transactions t ON t.transaction_id = m.transaction_id
       WHERE r.state = 'paused' AND r.publishes = 0 AND r.drained = 1 AND m.state = 'unfinished'
         AND t.status = 'queued' AND t.attempts = 0`,
  },
  'cancels take back': {
    promise: 'a cancelled rollout has cancelled its commands and its devices that wait, when it says so',
    by: 'docs/rollouts.md',
    rows: `SELECT m.device_id, m.state, m.transaction_id FROM rollouts r JOIN rollout_members m ON m.rollout_id = r.rollout_id
       LEFT JOIN transactions t ON t.transaction_id = m.transaction_id
       WHERE r.state = 'cancelled' AND r.drained = 1
         AND (m.state = 'waiting' OR (m.state = 'unfinished' AND t.completed_at IS NULL))`,
  },
  'terms end commands': {
    promise: 'a command whose time has passed is ended',
    by: 'docs/reference.md',
    isTimeless: false,
    rows: `SELECT transaction_id, ends_at, :now - ends_at AS micros FROM transactions
       WHERE completed_at IS NULL AND ends_at < :now - 25000000 AND (SELECT begun_at FROM lives) < :now - 25000000`,
  },
  'nothing of a rollout after a restore': {
    promise: 'after a restore a rollout is paused before it publishes another command',
    by: 'docs/rollouts.md',
    isTimeless: false,
    rows: `SELECT t.transaction_id, e.at - t.published_at AS micros FROM rollout_entries e
       JOIN transactions t ON t.rollout_id = e.rollout_id
       WHERE e.event = 'paused' AND e.reason = 'DATABASE_RESTORED'
         AND t.published_at >= (SELECT begun_at FROM lives) AND t.published_at < e.at`,
  },
  'expired is not done': {
    promise: 'a command is not published for the first time after it has expired',
    by: 'docs/reference.md',
    isOfCommands: true,
    isTimeless: false,
    rows: `SELECT transaction_id, published_at - expires_at AS micros FROM transactions
       WHERE published_at > expires_at`,
  },
};

/** Hold when all faults are over, and everything that was asked for has come to its end. */
export const AT_THE_END: Readonly<Record<string, Invariant>> = {
  'commands come to their end': {
    promise: 'no command of a connected device waits when nothing holds it back',
    by: 'README.md',
    isTimeless: false,
    rows: `SELECT transaction_id, status FROM transactions t WHERE due = 1
       AND (SELECT c.kind || c.is_open FROM connection_log c WHERE c.device_id = t.device_id
         AND c.at >= (SELECT begun_at FROM lives) ORDER BY c.fact_id DESC LIMIT 1) = 'connected1'
       AND ${GOES_OUT}`,
  },
  'webhooks come to their end': {
    promise: 'each webhook is sent; one that was refused is sent again later',
    by: 'README.md',
    rows: `SELECT delivery_id, type FROM deliveries WHERE status = 'pending' AND attempts = 0`,
  },
  'endpoints come to their end': {
    promise: 'an endpoint that is enabled gets all events',
    by: 'docs/endpoints.md',
    rows: `SELECT endpoint_id, sequence FROM endpoint_deliveries WHERE status = 'pending' AND attempts = 0
       UNION ALL SELECT e.endpoint_id, d.sequence FROM endpoints e JOIN deliveries d USING (application_id)
         WHERE e.enabled = 1 AND e.refused_in_row < 5 AND d.sequence > e.after_sequence`,
  },
  'nothing is left in work': {
    promise: 'actions on devices, removals, stops of rollouts and messages that were received come to their end',
    by: 'docs/architecture.md',
    rows: `SELECT action_id, state FROM device_actions WHERE at_work = 1
       UNION ALL SELECT removal_id, step FROM removals WHERE ended_at IS NULL
       UNION ALL SELECT device_id, activation FROM devices WHERE blocked = 1
       UNION ALL SELECT rollout_id, state FROM rollouts WHERE state IN ('paused', 'cancelled') AND drained = 0`,
  },
};
