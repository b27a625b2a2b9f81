import type { Sql } from './sql.ts';
import { ROWS_PER_READ, type Sweep } from './sweep.ts';

/** The number of devices that one step of a sweep examines. */
const DEVICES = 500;

/** A device with the time of its oldest row. */
interface OldestOfDevice {
  deviceId: string;
  at: number;
}

interface Parts<Found> extends Pick<Sweep<Found>, 'kind' | 'keptForMicros' | 'remove'> {
  /** Devices that have rows, ordered by id and beginning behind `after`. */
  oldestOfDevices(sql: Sql, after: string, limit: number): Promise<OldestOfDevice[]>;
  /** The rows of a device from before a time, the oldest first. */
  findOld(sql: Sql, deviceId: string, before: number, limit: number): Promise<Found[]>;
}

/** The statement for `oldestOfDevices`, for a table whose index begins with the device. `oldest` is an aggregate. */
export const oldestOfDevicesIn = (table: string, oldest: string): string =>
  `WITH RECURSIVE seen (device_id) AS (
     SELECT MIN(device_id) FROM ${table} WHERE device_id > ?
     UNION ALL
     SELECT (SELECT MIN(device_id) FROM ${table} e WHERE e.device_id > seen.device_id) FROM seen
     WHERE seen.device_id IS NOT NULL)
   SELECT device_id AS "deviceId", (SELECT ${oldest} FROM ${table} e WHERE e.device_id = seen.device_id) AS oldest
   FROM seen WHERE device_id IS NOT NULL LIMIT ?`;

/** A sweep of rows that are stored by device, and so found device by device. */
export const sweepOfDevices = <Found>({ oldestOfDevices, findOld, ...sweep }: Parts<Found>): Sweep<Found> => ({
  ...sweep,
  async *find(sql, before) {
    if (!Number.isFinite(before)) return; // rows are kept for ever
    for (let after = ''; ; ) {
      const devices = await oldestOfDevices(sql, after, DEVICES);
      let found: Found[] = [];
      const oldestAt = devices.reduce((oldest, { at }) => Math.min(oldest, at), before);
      for (const { deviceId } of devices.filter(({ at }) => at < before)) {
        // Reads one page at most; if the device has more old rows, the next sweep finds them.
        found.push(...(await findOld(sql, deviceId, before, ROWS_PER_READ)));
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
  async oldestAt(sql) {
    let oldest = Number.POSITIVE_INFINITY;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const devices: OldestOfDevice[] = await oldestOfDevices(sql, after, DEVICES);
      for (const { at } of devices) oldest = Math.min(oldest, at);
      after = devices.length < DEVICES ? undefined : devices.at(-1)?.deviceId;
    }
    return Number.isFinite(oldest) ? oldest : null;
  },
});
