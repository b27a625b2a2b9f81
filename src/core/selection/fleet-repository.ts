import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import type { Sql, SqlValue } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Candidate } from './candidate.ts';
import type { Terms } from './selector.ts';
import { type Conditions, SEEN_AT, termConditions } from './term-conditions.ts';

export type FleetOrder = 'deviceId' | 'lastSeen' | '-lastSeen';
/** `lot`: a random order, which is the same each time. */
type AnyOrder = FleetOrder | 'lot';

/** Conditions on devices of all developers, of which all must hold; a member that is missing is not a condition. */
export interface FleetFilter {
  /** The digits with which the deviceId begins. */
  prefix?: string;
  developerId?: string;
  applicationId?: string;
  activation?: 'deactivated' | 'activating' | 'activated';
  blocked?: boolean;
  terms: Terms;
  batteryBelow?: number;
  batteryFrom?: number;
  /**
   * Matches devices whose stored time of the last sign of life is before this time (microseconds), or that have none.
   */
  seenBefore?: number;
}

/** The position of a device in a list. */
export interface FleetPlace {
  deviceId: string;
  /** The stored time of the last sign of life in microseconds; 0 for a device that was never seen. */
  seenAt: Micros;
}

/** A character that sorts after every digit. */
const AFTER_DIGITS = ':';

/** How a list is ordered, and which rows are behind a place in it. */
interface Order {
  by: string;
  after: string;
  place(at: FleetPlace): SqlValue[];
}

const byDevice = (column: string): Order => ({
  by: column,
  after: `${column} > ?`,
  place: ({ deviceId }) => [deviceId],
});
const ORDERS: Record<Exclude<AnyOrder, 'deviceId'>, Order> = {
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
  // Only the first page of it is read.
  lot: { by: 'd.lot, d.device_id', after: 'd.device_id > ?', place: ({ deviceId }) => [deviceId] },
};

/** The conditions of a filter. `byTag`: devices may be found by a tag, in the order of their deviceIds. */
function conditions(filter: FleetFilter, byTag: boolean): Conditions {
  const { prefix, batteryBelow, batteryFrom, terms } = filter;
  const conditions = termConditions(terms, {
    joinsStatus: batteryBelow !== undefined || batteryFrom !== undefined,
    applicationId: filter.applicationId,
    byTag,
  });
  const { where, values } = conditions;
  const add = (condition: string, ...given: SqlValue[]): void => {
    where.push(condition);
    values.push(...given);
  };
  if (prefix !== undefined) add('d.device_id >= ? AND d.device_id < ?', prefix, `${prefix}${AFTER_DIGITS}`);
  if (filter.developerId !== undefined) add('d.developer_id = ?', filter.developerId);
  if (filter.activation !== undefined) add('d.activation = ?', filter.activation);
  if (filter.blocked !== undefined) add('d.blocked = ?', filter.blocked ? 1 : 0);
  if (batteryBelow !== undefined) add('s.battery < ?', batteryBelow);
  if (batteryFrom !== undefined) add('s.battery >= ?', batteryFrom);
  if (filter.seenBefore !== undefined) add(`${SEEN_AT} < ?`, filter.seenBefore);
  return conditions;
}

/**
 * Finds the next devices after a position, in an order. It may read very many rows, so `sql` should be a connection
 * whose queries run on a thread of their own.
 */
export function fleetPlaces(
  sql: Sql,
  {
    filter,
    order,
    after,
    limit,
  }: { filter: FleetFilter; order: AnyOrder; after: FleetPlace | undefined; limit: number },
): Promise<Candidate[]> {
  const isByDevice = order === 'deviceId';
  const { columns, from, deviceId, joins, joinValues, where, values } = conditions(filter, isByDevice);
  const { by, after: behind, place } = isByDevice ? byDevice(deviceId) : ORDERS[order];
  if (after) {
    where.push(behind);
    values.push(...place(after));
  }
  return sql.all<Candidate>(
    `SELECT ${columns} FROM ${from}
     LEFT JOIN device_presence p ON p.device_id = d.device_id${joins}
     WHERE ${where.length > 0 ? where.join(' AND ') : '1 = 1'} ORDER BY ${by} LIMIT ?`,
    ...joinValues,
    ...values,
    limit,
  );
}

/** Finds the positions of those given devices that match a filter. */
export async function fleetPlacesAmong(
  sql: Sql,
  filter: FleetFilter,
  deviceIds: readonly string[],
): Promise<Candidate[]> {
  const { columns, from, joins, joinValues, where, values } = conditions(filter, false);
  const text = `SELECT ${columns} FROM ${from}
    LEFT JOIN device_presence p ON p.device_id = d.device_id${joins}
    WHERE ${[...where, `d.device_id IN ${IN_LIST}`].join(' AND ')}`;
  const found: Candidate[] = [];
  for (const list of inLists(deviceIds)) {
    found.push(...(await sql.all<Candidate>(text, ...joinValues, ...values, ...list)));
  }
  return found;
}
