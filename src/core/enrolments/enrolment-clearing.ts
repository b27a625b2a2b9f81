import { type Clearing, pagesBy } from '../applications/clearing.ts';
import { batchesOf, removeBatch } from './batch-repository.ts';
import { listEnrolments, removeEnrolment } from './enrolment-repository.ts';

/** A device that has asked with the code of a batch; without a device, the batch itself. */
interface Found {
  batchId: string;
  deviceId?: string;
}

/**
 * Removes the batches of a developer with their requests. They belong to the devices, and are not counted, because they
 * say only how these devices came.
 */
export const enrolmentClearing = (): Clearing<Found> => ({
  kind: 'devices',
  async *find(sql, { developerId, applicationId }) {
    if (applicationId !== null) return;
    const pages = pagesBy<Found, string>(
      '',
      ({ batchId }) => batchId,
      (after, limit) => batchesOf(sql, developerId, after, limit),
    );
    for await (const page of pages) {
      for (const { batchId } of page) {
        const devices = pagesBy<Found & { deviceId: string }, string>(
          '',
          ({ deviceId }) => deviceId,
          (after, limit) => listEnrolments(sql, batchId, { after, limit }),
        );
        for await (const found of devices) yield found.map(({ deviceId }) => ({ batchId, deviceId }));
      }
      yield page;
    }
  },
  async remove(unit, { batchId, deviceId }) {
    if (deviceId === undefined) await removeBatch(unit, batchId);
    else await removeEnrolment(unit, batchId, deviceId);
    return {};
  },
});
