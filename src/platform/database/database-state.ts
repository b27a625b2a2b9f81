import type { Micros } from '../../runtime/units.ts';

/** A receiver that has refused a webhook, or did not answer, and gets it again. */
export interface FailingReceiver {
  applicationId: string;
  setting: string;
  /** The deliveries that wait for a further attempt. */
  deliveries: number;
  lastError: string | null;
}

/** The state of time and of receivers in a database, for people who look for a fault. */
export interface DatabaseState {
  /** The time of the latest transaction. */
  latestAt: Micros | null;
  failing: FailingReceiver[];
}

/** The time of the latest transaction. */
export const LATEST = 'SELECT created_at FROM transactions ORDER BY transaction_id DESC LIMIT 1';

/** The receivers with the most deliveries that have failed and are tried again. */
export const FAILING = `SELECT application_id AS "applicationId", setting, count(*) AS deliveries,
    max(last_error) AS "lastError"
  FROM deliveries WHERE status = 'pending' AND attempts > 0
  GROUP BY application_id, setting ORDER BY deliveries DESC, application_id, setting LIMIT 5`;
