import { IN_LIST, inLists } from '../platform/database/in-lists.ts';
import type { Sql, SqlValue } from '../platform/database/sql.ts';

export type FleetOrder = 'deviceId' | 'lastSeen' | '-lastSeen';

/** Which devices; what is left out is no condition. */
export interface FleetFilter {
  /** Digits that a deviceId begins with. */
  prefix?: string;
  developerId?: string;
  applicationId?: string;
  activation?: 'deactivated' | 'activating' | 'activated';
  /** As last reported; null: none was. */
  firmware?: string | null;
  package?: string;
  /** Of that package. */
  version?: string;
  batteryBelow?: number;
  batteryFrom?: number;
  /** Microseconds; by what is stored they were not heard of since, or never. */
  seenBefore?: number;
}

/** A device and its place in an order. */
export interface FleetPlace {
  deviceId: string;
  /** Microseconds, as stored; 0: never. */
  seenAt: number;
}

/** What is stored of a device for a list of them. Times are microseconds, null where there is none. */
export interface FleetRow {
  deviceId: string;
  developerId: string;
  applicationId: string | null;
  activation: 'deactivated' | 'activating' | 'activated';
  blocked: boolean;
  firmware: string | null;
  battery: number | null;
  reportedAt: number | null;
  lastSeenAt: number | null;
  unfinished: number;
}

const SEEN_AT = 'COALESCE(p.last_seen_at, 0)';
/** Behind every digit. */
const BEHIND_DIGITS = ':';

const ORDERS: Record<FleetOrder, { by: string; after: string; place(at: FleetPlace): SqlValue[] }> = {
  deviceId: { by: 'd.device_id', after: 'd.device_id > ?', place: ({ deviceId }) => [deviceId] },
  lastSeen: {
    by: `${SEEN_AT}, d.device_id`,
    after: `(${SEEN_AT} > ? OR (${SEEN_AT} = ? AND d.device_id > ?))`,
    place: ({ deviceId, seenAt }) => [seenAt, seenAt, deviceId],
  },
  '-lastSeen': {
    by: `${SEEN_AT} DESC, d.device_id`,
    after: `(${SEEN_AT} < ? OR (${SEEN_AT} = ? AND d.device_id > ?))`,
    place: ({ deviceId, seenAt }) => [seenAt, seenAt, deviceId],
  },
};

/** Conditions with their values, and the tables that they need besides. */
function conditions(filter: FleetFilter): {
  joins: string;
  joinValues: SqlValue[];
  where: string[];
  values: SqlValue[];
} {
  const where: string[] = [];
  const values: SqlValue[] = [];
  const joinValues: SqlValue[] = [];
  let joins = '';
  const add = (condition: string, ...given: SqlValue[]): void => {
    where.push(condition);
    values.push(...given);
  };
  const { prefix, firmware, batteryBelow, batteryFrom } = filter;
  if (prefix !== undefined) add('d.device_id >= ? AND d.device_id < ?', prefix, `${prefix}${BEHIND_DIGITS}`);
  if (filter.developerId !== undefined) add('d.developer_id = ?', filter.developerId);
  if (filter.applicationId !== undefined) add('d.application_id = ?', filter.applicationId);
  if (filter.activation !== undefined) add('d.activation = ?', filter.activation);
  if (firmware !== undefined || batteryBelow !== undefined || batteryFrom !== undefined) {
    joins += ' LEFT JOIN device_status s ON s.device_id = d.device_id';
    if (firmware === null) add('s.firmware IS NULL');
    else if (firmware !== undefined) add('s.firmware = ?', firmware);
    if (batteryBelow !== undefined) add('s.battery < ?', batteryBelow);
    if (batteryFrom !== undefined) add('s.battery >= ?', batteryFrom);
  }
  if (filter.package !== undefined) {
    joins += ' JOIN device_software w ON w.device_id = d.device_id AND w.package = ?';
    joinValues.push(filter.package);
    if (filter.version !== undefined) add('w.version = ?', filter.version);
  }
  if (filter.seenBefore !== undefined) add(`${SEEN_AT} < ?`, filter.seenBefore);
  return { joins, joinValues, where, values };
}

/** The next places behind one, in an order. Looks at as many rows as it has to: for a thread of its own. */
export function fleetPlaces(
  sql: Sql,
  {
    filter,
    order,
    after,
    limit,
  }: { filter: FleetFilter; order: FleetOrder; after: FleetPlace | undefined; limit: number },
): Promise<FleetPlace[]> {
  const { joins, joinValues, where, values } = conditions(filter);
  const { by, after: behind, place } = ORDERS[order];
  if (after) {
    where.push(behind);
    values.push(...place(after));
  }
  return sql.all<FleetPlace>(
    `SELECT d.device_id AS "deviceId", ${SEEN_AT} AS "seenAt" FROM devices d
     LEFT JOIN device_presence p ON p.device_id = d.device_id${joins}
     WHERE ${where.length > 0 ? where.join(' AND ') : '1 = 1'} ORDER BY ${by} LIMIT ?`,
    ...joinValues,
    ...values,
    limit,
  );
}

/** Those of the devices that a filter lets pass, with their places. */
export async function fleetPlacesAmong(
  sql: Sql,
  filter: FleetFilter,
  deviceIds: readonly string[],
): Promise<FleetPlace[]> {
  const { joins, joinValues, where, values } = conditions(filter);
  const text = `SELECT d.device_id AS "deviceId", ${SEEN_AT} AS "seenAt" FROM devices d
    LEFT JOIN device_presence p ON p.device_id = d.device_id${joins}
    WHERE ${[...where, `d.device_id IN ${IN_LIST}`].join(' AND ')}`;
  const found: FleetPlace[] = [];
  for (const list of inLists(deviceIds)) {
    found.push(...(await sql.all<FleetPlace>(text, ...joinValues, ...values, ...list)));
  }
  return found;
}

type Row = Omit<FleetRow, 'blocked'> & { blocked: number };

/** What is stored of these devices, in their order; one that is gone is left out. */
export async function fleetRows(sql: Sql, deviceIds: readonly string[]): Promise<FleetRow[]> {
  const found = new Map<string, FleetRow>();
  for (const list of inLists(deviceIds)) {
    const rows = await sql.all<Row>(
      `SELECT d.device_id AS "deviceId", d.developer_id AS "developerId", d.application_id AS "applicationId",
         d.activation, d.blocked, s.firmware, s.battery, s.reported_at AS "reportedAt",
         p.last_seen_at AS "lastSeenAt", (SELECT count(*) FROM transactions t WHERE t.device_id = d.device_id
           AND t.due = 1 AND t.completed_at IS NULL) AS unfinished
       FROM devices d LEFT JOIN device_status s ON s.device_id = d.device_id
       LEFT JOIN device_presence p ON p.device_id = d.device_id WHERE d.device_id IN ${IN_LIST}`,
      ...list,
    );
    for (const row of rows) found.set(row.deviceId, { ...row, blocked: row.blocked !== 0 });
  }
  return deviceIds.flatMap((deviceId) => found.get(deviceId) ?? []);
}
