import { inSets } from '../../platform/database/set-form.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import { type Clearing, leavingApplications, pagesBy } from '../applications/clearing.ts';
import type { DeliveryKey } from './delivery.ts';
import { removeAttempts } from './log/attempt-repository.ts';
import { forgetTurns } from './log/redelivery-turns.ts';

const REMOVE = inSets('DELETE FROM deliveries WHERE application_id = ? AND delivery_id = ?', ['text', 'text']);

/** Removes all deliveries of a customer, also those that are pending. */
export const deliveryClearing = (): Clearing<DeliveryKey> => ({
  kind: 'deliveries',
  async *find(sql, leaver) {
    for await (const applicationId of leavingApplications(sql, leaver))
      yield* pagesBy(
        '',
        (row) => row.deliveryId,
        (after, limit) =>
          sql.all<DeliveryKey>(
            `SELECT application_id AS "applicationId", delivery_id AS "deliveryId" FROM deliveries
           WHERE application_id = ? AND delivery_id > ? ORDER BY delivery_id LIMIT ?`,
            applicationId,
            after,
            limit,
          ),
      );
  },
  async remove(unit, key) {
    // The delivery first: from then on no attempt is added to it.
    const deliveries = await unit.run(REMOVE, key.applicationId, key.deliveryId);
    await removeAttempts(unit, key);
    return { deliveries };
  },
});

/** Deletes the receivers and redeliveries of an application, in the unit of work that removes the application. */
export async function forgetReceivers(unit: UnitOfWork, applicationId: string): Promise<void> {
  await unit.run('DELETE FROM failing_receivers WHERE application_id = ?', applicationId);
  await unit.run('DELETE FROM receiver_hours WHERE application_id = ?', applicationId);
  await forgetTurns(unit, applicationId);
}
