import { ROWS_PER_READ, type Sweep } from '../../platform/database/sweep.ts';
import { REMEMBERED_FOR_MICROS } from './device-events.ts';
import { findOldEvents, findOldestOfDevices, removeOldEvent } from './event-repository.ts';

/** The number of devices that one step of the sweep examines for old events. */
const DEVICES = 500;

/**
 * Removes events that are too old to be recognized as repetitions. A device that still sends events removes its own old
 * ones; this sweep is for devices that send none any more.
 */
export const eventSweep = (): Sweep<{ deviceId: string; eventId: string }> => ({
  kind: 'device_events',
  keptForMicros: REMEMBERED_FOR_MICROS,
  async *find(sql, before) {
    for (let after = ''; ; ) {
      const devices = await findOldestOfDevices(sql, after, DEVICES);
      let found: { deviceId: string; eventId: string }[] = [];
      const oldestAt = devices.reduce((oldest, { at }) => Math.min(oldest, at), before);
      for (const { deviceId } of devices.filter(({ at }) => at < before)) {
        // Reads one page at most; if the device has more old events, the next sweep finds them.
        for (const eventId of await findOldEvents(sql, deviceId, before, ROWS_PER_READ))
          found.push({ deviceId, eventId });
        if (found.length < ROWS_PER_READ) continue;
        yield { found, oldestAt };
        found = [];
      }
      yield { found, oldestAt };
      const last = devices.at(-1);
      if (!last || devices.length < DEVICES) return;
      after = last.deviceId;
    }
  },
  remove: removeOldEvent,
  async oldestAt(sql) {
    let oldest = Number.POSITIVE_INFINITY;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const devices: { deviceId: string; at: number }[] = await findOldestOfDevices(sql, after, DEVICES);
      for (const { at } of devices) oldest = Math.min(oldest, at);
      after = devices.length < DEVICES ? undefined : devices.at(-1)?.deviceId;
    }
    return Number.isFinite(oldest) ? oldest : null;
  },
});
