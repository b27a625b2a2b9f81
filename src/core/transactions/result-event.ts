import type { UnitOfWork } from '../../platform/database/sql.ts';
import { toUtc } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Finished, OnFinished } from './ends.ts';
import type { FinishedStatus } from './transaction.ts';
import { transactionBody } from './transaction-body.ts';

/** Stores a webhook in a unit of work, and returns its deliveryId. */
type RecordEvent = (
  unit: UnitOfWork,
  event: {
    applicationId: string;
    deviceId: string;
    transactionId: number;
    traceparent: string | null;
    setting: 'deviceEvent';
    type: `transaction.${FinishedStatus}`;
    occurredAt: Micros;
    data: object;
  },
) => string;

/** Stores the result of a transaction as a webhook of `deviceEvent`, in the commit that ends it. */
export const createResultEvent =
  (record: RecordEvent): OnFinished =>
  (unit, finished: Finished) => {
    const { transactionId, deviceId, applicationId, status, traceparent } = finished;
    const deliveryId = record(unit, {
      applicationId,
      deviceId,
      transactionId,
      traceparent,
      setting: 'deviceEvent',
      type: `transaction.${status}`,
      occurredAt: finished.updatedAt,
      data: { transaction: transactionBody(finished, toUtc) },
    });
    return { deliveryId };
  };
