import type { Sql } from '../../platform/database/sql.ts';
import { type Clearing, type Leaver, pagesBy } from '../applications/clearing.ts';
import type { Revoke } from './device-credentials.ts';
import type { Devices } from './devices.ts';

/** The number of devices whose connections are ended in one commit at most. */
const CONNECTIONS_AT_ONCE = 50;

/** The devices of a developer who leaves, or those that are activated for an application that does. */
const devicesOf = (sql: Sql, { developerId, applicationId }: Leaver): AsyncGenerator<{ deviceId: string }[]> =>
  pagesBy(
    '',
    (row) => row.deviceId,
    (after, limit) =>
      sql.all<{ deviceId: string }>(
        `SELECT device_id AS "deviceId" FROM devices WHERE ${applicationId === null ? 'developer_id' : 'application_id'} = ?
       AND device_id > ? ORDER BY device_id LIMIT ?`,
        applicationId ?? developerId,
        after,
        limit,
      ),
  );

/** Ends the connections of all devices of the customer. They cannot log in any more. */
export const connectionClearing = ({
  connected,
  revoke,
}: {
  /** Returns those of the given devices that are connected to any node. */
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  revoke: Revoke;
}): Clearing<string> => ({
  kind: 'connections',
  async *find(sql, leaver) {
    for await (const page of devicesOf(sql, leaver)) {
      const found = [...(await connected(page.map(({ deviceId }) => deviceId)))].sort();
      for (let from = 0; from < found.length; from += CONNECTIONS_AT_ONCE)
        yield found.slice(from, from + CONNECTIONS_AT_ONCE);
    }
  },
  async remove(unit, deviceId) {
    await revoke(unit, deviceId, 'dropped');
    return { connections: 1 };
  },
  alone: (deviceId) => deviceId,
});

/** Removes the devices of a developer; releases those of an application, which belong to its developer. */
export const deviceClearing = ({ clear, release }: Pick<Devices, 'clear' | 'release'>): Clearing<string> => ({
  kind: 'devices',
  async *find(sql, leaver) {
    for await (const page of devicesOf(sql, leaver)) yield page.map(({ deviceId }) => deviceId);
  },
  remove: (unit, deviceId, { developerId, applicationId }) =>
    applicationId === null ? clear(unit, deviceId, developerId) : release(unit, deviceId, applicationId),
  alone: (deviceId) => deviceId,
});
