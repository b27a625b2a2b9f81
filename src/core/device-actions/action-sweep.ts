import { daysInMicros, ROWS_PER_READ, type Sweep } from '../../platform/database/sweep.ts';
import {
  findAction,
  findEndedBefore,
  listDevicesOf,
  oldestEnd,
  removeAction,
  removeDeviceOfEnded,
} from './action-repository.ts';

/** A device of an ended action; without a device, the action itself, when its devices are removed. */
interface Expired {
  actionId: string;
  deviceId?: string;
}

/** Removes device actions that have ended: their devices one after another, then the action. `keptDays`: 0 for ever. */
export const actionSweep = ({ keptDays }: { keptDays: number }): Sweep<Expired> => ({
  kind: 'device_actions',
  keptForMicros: daysInMicros(keptDays),
  async *find(sql, before) {
    for (const { actionId, endedAt } of await findEndedBefore(sql, before, ROWS_PER_READ)) {
      for (let after: string | undefined = ''; after !== undefined; ) {
        const devices: { deviceId: string }[] = await listDevicesOf(sql, actionId, { after, limit: ROWS_PER_READ });
        yield { found: devices.map(({ deviceId }) => ({ actionId, deviceId })), oldestAt: endedAt };
        after = devices.length < ROWS_PER_READ ? undefined : devices.at(-1)?.deviceId;
      }
      yield { found: [{ actionId }], oldestAt: endedAt };
    }
  },
  async remove(unit, { actionId, deviceId }, before) {
    if (deviceId !== undefined) return removeDeviceOfEnded(unit, actionId, deviceId, before);
    const action = await findAction(unit, actionId, unit.forUpdate);
    if (!action || action.endedAt === null || action.endedAt >= before) return 0;
    await removeAction(unit, actionId);
    return 1;
  },
  oldestAt: oldestEnd,
});
