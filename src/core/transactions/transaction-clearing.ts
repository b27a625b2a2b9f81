import { inSets } from '../../platform/database/set-form.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import { type Clearing, ofLeaver } from '../applications/clearing.ts';
import { examineNext } from './transaction-repository.ts';

const REMOVE = inSets('DELETE FROM transactions WHERE transaction_id = ?', ['bigint']);

/**
 * Removes the transactions of a customer, also those of devices that were removed or moved since. No index has them by
 * application, so all transactions are read once, in the order of their ids.
 */
export const transactionClearing = (): Clearing<number> => ({
  kind: 'transactions',
  once: true,
  async *find(sql, leaver) {
    const [isTheirs, of] = ofLeaver('application_id', leaver);
    for (let after = 0; ; ) {
      const seen = await examineNext(sql, after);
      if (!seen) return;
      const rows = await sql.all<{ transactionId: number }>(
        `SELECT transaction_id AS "transactionId" FROM transactions
         WHERE transaction_id > ? AND transaction_id <= ? AND ${isTheirs} ORDER BY transaction_id`,
        after,
        seen.last,
        of,
      );
      yield rows.map(({ transactionId }) => transactionId);
      after = seen.last;
    }
  },
  remove: async (unit, transactionId) => ({ transactions: await unit.run(REMOVE, transactionId) }),
});

/**
 * Deletes the transactions that are due for a device, of one application or of all, without ending them: nobody is
 * notified. Returns their number. The device may still carry out a command that it has.
 */
export const dropDue = (unit: UnitOfWork, deviceId: string, applicationId?: string): Promise<number> =>
  applicationId === undefined
    ? unit.run('DELETE FROM transactions WHERE device_id = ? AND due = 1', deviceId)
    : unit.run(
        'DELETE FROM transactions WHERE device_id = ? AND due = 1 AND application_id = ?',
        deviceId,
        applicationId,
      );
