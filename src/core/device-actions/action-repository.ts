import type { DeviceFilter } from '@lapel/schemas/contracts/types';
import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import type { Lock, Sql, SqlValue, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { ActionParameters, Count, DeviceAction, DeviceState } from './device-action.ts';

type Row = Omit<DeviceAction, 'parameters'> & { parameters: string };

const COLUMNS = `action_id AS "actionId", action, parameters, confirmed, state, reason, place, devices,
  created_at AS "createdAt", started_at AS "startedAt", ended_at AS "endedAt"`;

const toAction = (row: Row): DeviceAction => ({ ...row, parameters: JSON.parse(row.parameters) as ActionParameters });

/** Finds an action. A unit of work whose decision depends on it passes `lock`, its `forUpdate`. */
export async function findAction(sql: Sql, actionId: string, lock: Lock = ''): Promise<DeviceAction | undefined> {
  const row = await sql.get<Row>(`SELECT ${COLUMNS} FROM device_actions WHERE action_id = ?${lock}`, actionId);
  return row && toAction(row);
}

/** The filter of an action, as it was asked for. */
export async function findFilter(sql: Sql, actionId: string): Promise<DeviceFilter> {
  const row = await sql.get<{ filter: string }>('SELECT filter FROM device_actions WHERE action_id = ?', actionId);
  return JSON.parse(row?.filter ?? '{}') as DeviceFilter;
}

/** Finds the action that a request with this Idempotency-Key has made. */
export const findByKey = (sql: Sql, key: string): Promise<{ actionId: string; digest: string } | undefined> =>
  sql.get('SELECT action_id AS "actionId", digest FROM device_actions WHERE idempotency_key = ?', key);

/** Adds an action; returns false when its key is taken. */
export async function insertAction(
  unit: UnitOfWork,
  action: DeviceAction,
  { filter, key, digest }: { filter: DeviceFilter; key: string | null; digest: string },
): Promise<boolean> {
  const added = await unit.run(
    `INSERT INTO device_actions (action_id, action, parameters, filter, confirmed, idempotency_key, digest, state,
       at_work, place, devices, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?) ON CONFLICT DO NOTHING`,
    action.actionId,
    action.action,
    JSON.stringify(action.parameters),
    JSON.stringify(filter),
    action.confirmed,
    key,
    digest,
    action.state,
    action.place,
    action.devices,
    action.createdAt,
  );
  return added === 1;
}

/** Stores the changed members of an action. */
export async function updateAction(unit: UnitOfWork, action: DeviceAction): Promise<void> {
  await unit.run(
    `UPDATE device_actions SET state = ?, reason = ?, at_work = ?, place = ?, devices = ?, started_at = ?, ended_at = ?
     WHERE action_id = ?`,
    action.state,
    action.reason,
    action.endedAt === null ? 1 : 0,
    action.place,
    action.devices,
    action.startedAt,
    action.endedAt,
    action.actionId,
  );
}

/** The actions that are at work, the oldest first. */
export async function findAtWork(sql: Sql): Promise<DeviceAction[]> {
  const rows = await sql.all<Row>(`SELECT ${COLUMNS} FROM device_actions WHERE at_work = 1 ORDER BY action_id`);
  return rows.map(toAction);
}

export async function countAtWork(sql: Sql): Promise<number> {
  const row = await sql.get<{ actions: number }>('SELECT count(*) AS "actions" FROM device_actions WHERE at_work = 1');
  return row?.actions ?? 0;
}

/** A page of actions with their filters, the newest first. */
export async function listActions(
  sql: Sql,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<(DeviceAction & { filter: DeviceFilter })[]> {
  const rows = await sql.all<Row & { filter: string }>(
    `SELECT ${COLUMNS}, filter FROM device_actions WHERE action_id < ? ORDER BY action_id DESC LIMIT ?`,
    after ?? '~',
    limit,
  );
  return rows.map(({ filter, ...row }) => ({ ...toAction(row), filter: JSON.parse(filter) as DeviceFilter }));
}

/** Adds waiting devices. */
export async function insertDevices(
  unit: UnitOfWork,
  actionId: string,
  deviceIds: readonly string[],
  now: Micros,
): Promise<void> {
  await Promise.all(
    deviceIds.map((deviceId) =>
      unit.run(
        `INSERT INTO device_action_devices (action_id, device_id, state, code, updated_at)
         VALUES (?, ?, 'waiting', '', ?)`,
        actionId,
        deviceId,
        now,
      ),
    ),
  );
}

/** Stores what became of a device that waits. */
export async function settleDevice(
  unit: UnitOfWork,
  actionId: string,
  { deviceId, state, code }: { deviceId: string; state: DeviceState; code: string },
  now: Micros,
): Promise<void> {
  await unit.run(
    `UPDATE device_action_devices SET state = ?, code = ?, updated_at = ?
     WHERE action_id = ? AND device_id = ?`,
    state,
    code,
    now,
    actionId,
    deviceId,
  );
}

/** Changes the number of devices in a state. */
export async function addCount(unit: UnitOfWork, actionId: string, { state, code, devices }: Count): Promise<void> {
  await unit.run(
    `INSERT INTO device_action_counts (action_id, state, code, devices) VALUES (?, ?, ?, ?)
     ON CONFLICT (action_id, state, code) DO UPDATE SET devices = device_action_counts.devices + excluded.devices`,
    actionId,
    state,
    code,
    devices,
  );
}

export const findCounts = (sql: Sql, actionId: string): Promise<Count[]> =>
  sql.all<Count>(
    `SELECT state, code, devices FROM device_action_counts WHERE action_id = ? AND devices <> 0
     ORDER BY devices DESC, state, code`,
    actionId,
  );

/** A device of an action. */
export interface ActionDevice {
  deviceId: string;
  state: DeviceState;
  code: string;
  updatedAt: Micros;
}

const OF_DEVICE = 'device_id AS "deviceId", state, code, updated_at AS "updatedAt"';

/** The next devices that wait, in the order of their deviceIds. The index has all that is read. */
export async function findWaiting(sql: Sql, actionId: string, limit: number): Promise<string[]> {
  const rows = await sql.all<{ deviceId: string }>(
    `SELECT device_id AS "deviceId" FROM device_action_devices WHERE action_id = ? AND state = 'waiting' AND code = ''
     ORDER BY device_id LIMIT ?`,
    actionId,
    limit,
  );
  return rows.map(({ deviceId }) => deviceId);
}

/** Those of the devices that still wait, in a unit of work that has locked the action. */
export async function waitingAmong(
  sql: Sql,
  actionId: string,
  deviceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const list of inLists(deviceIds)) {
    // A condition on the state would make SQLite read all that wait, in the index by state.
    const rows = await sql.all<Pick<ActionDevice, 'deviceId' | 'state'>>(
      `SELECT device_id AS "deviceId", state FROM device_action_devices
       WHERE action_id = ? AND device_id IN ${IN_LIST}`,
      actionId,
      ...list,
    );
    for (const { deviceId, state } of rows) if (state === 'waiting') found.add(deviceId);
  }
  return found;
}

/** Devices of an action behind a deviceId, in the order of their deviceIds; `code` needs `state`. */
export function listDevicesOf(
  sql: Sql,
  actionId: string,
  {
    state,
    code,
    after = '',
    limit,
  }: { state?: DeviceState | undefined; code?: string | undefined; after?: string | undefined; limit: number },
): Promise<ActionDevice[]> {
  const ofState = state === undefined ? '' : ' AND state = ?';
  const ofCode = code === undefined ? '' : ' AND code = ?';
  const values: SqlValue[] = [state, code].filter((value) => value !== undefined);
  return sql.all<ActionDevice>(
    `SELECT ${OF_DEVICE} FROM device_action_devices WHERE action_id = ?${ofState}${ofCode} AND device_id > ?
     ORDER BY device_id LIMIT ?`,
    actionId,
    ...values,
    after,
    limit,
  );
}

/** An action in the story of one of its devices. */
export interface ActionOfDevice {
  actionId: string;
  action: DeviceAction['action'];
  parameters: ActionParameters;
  state: DeviceState;
  code: string;
  updatedAt: Micros;
}

/** The actions that have come to a device in [since, until), before the action `before`, the newest first. */
export async function listActionsOf(
  sql: Sql,
  deviceId: string,
  { since, until, before, limit }: { since: Micros; until: Micros; before: string; limit: number },
): Promise<ActionOfDevice[]> {
  const rows = await sql.all<Omit<ActionOfDevice, 'parameters'> & { parameters: string }>(
    `SELECT d.action_id AS "actionId", a.action, a.parameters, d.state, d.code, d.updated_at AS "updatedAt"
     FROM device_action_devices d JOIN device_actions a ON a.action_id = d.action_id
     WHERE d.device_id = ? AND d.action_id < ? AND d.state <> 'waiting' AND d.updated_at >= ? AND d.updated_at < ?
     ORDER BY d.action_id DESC LIMIT ?`,
    deviceId,
    before,
    since,
    until,
    limit,
  );
  return rows.map((row) => ({ ...row, parameters: JSON.parse(row.parameters) as ActionParameters }));
}

/** Actions that ended before a time, the oldest first. */
export const findEndedBefore = (
  sql: Sql,
  before: Micros,
  limit: number,
): Promise<{ actionId: string; endedAt: Micros }[]> =>
  sql.all(
    `SELECT action_id AS "actionId", ended_at AS "endedAt" FROM device_actions
     WHERE at_work = 0 AND ended_at < ? ORDER BY action_id LIMIT ?`,
    before,
    limit,
  );

/** The time of the earliest end of an action; null when none has ended. */
export async function oldestEnd(sql: Sql): Promise<Micros | null> {
  const row = await sql.get<{ at: Micros | null }>(
    'SELECT MIN(ended_at) AS "at" FROM device_actions WHERE at_work = 0',
  );
  return row?.at ?? null;
}

/** Removes a device of an action that ended before a time. Returns the number of removed rows. */
export const removeDeviceOfEnded = (
  unit: UnitOfWork,
  actionId: string,
  deviceId: string,
  before: Micros,
): Promise<number> =>
  unit.run(
    `DELETE FROM device_action_devices WHERE action_id = ? AND device_id = ? AND action_id IN
       (SELECT action_id FROM device_actions WHERE action_id = ? AND at_work = 0 AND ended_at < ?)`,
    actionId,
    deviceId,
    actionId,
    before,
  );

/** Removes an action whose devices are removed. */
export async function removeAction(unit: UnitOfWork, actionId: string): Promise<void> {
  for (const table of ['device_action_counts', 'device_actions'])
    await unit.run(`DELETE FROM ${table} WHERE action_id = ?`, actionId);
}
