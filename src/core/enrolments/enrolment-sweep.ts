import { daysInMicros, ROWS_PER_READ, type Sweep } from '../../platform/database/sweep.ts';
import { findBatch, findExpiredBatches, oldestExpiry, removeBatch } from './batch-repository.ts';
import { listEnrolments, removeEnrolment } from './enrolment-repository.ts';

/** A device of an expired batch; without a device, the batch itself, when its devices are removed. */
interface Expired {
  batchId: string;
  deviceId?: string;
}

/** Removes batches whose code has expired: their requests one after another, then the batch. `keptDays`: 0 for ever. */
export const enrolmentSweep = ({ keptDays }: { keptDays: number }): Sweep<Expired> => ({
  kind: 'enrolments',
  keptForMicros: daysInMicros(keptDays),
  async *find(sql, before) {
    for (const { batchId, expiresAt } of await findExpiredBatches(sql, before, ROWS_PER_READ)) {
      for (let after: string | undefined = ''; after !== undefined; ) {
        const devices: { deviceId: string }[] = await listEnrolments(sql, batchId, { after, limit: ROWS_PER_READ });
        yield { found: devices.map(({ deviceId }) => ({ batchId, deviceId })), oldestAt: expiresAt };
        after = devices.length < ROWS_PER_READ ? undefined : devices.at(-1)?.deviceId;
      }
      yield { found: [{ batchId }], oldestAt: expiresAt };
    }
  },
  async remove(unit, { batchId, deviceId }, before) {
    const batch = await findBatch(unit, batchId);
    if (!batch || batch.expiresAt >= before) return 0;
    return deviceId === undefined ? removeBatch(unit, batchId) : removeEnrolment(unit, batchId, deviceId);
  },
  oldestAt: oldestExpiry,
});
