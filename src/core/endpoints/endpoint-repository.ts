import type { Lock, Sql, SqlValue, UnitOfWork } from '../../platform/database/sql.ts';
import { openOrNull, type Place, sealOrNull } from '../../platform/encryption/vault.ts';
import type { Micros } from '../../runtime/units.ts';
import { DOWN_AFTER, type Endpoint, type EndpointKey, type Replay } from './endpoint.ts';

type Row = Omit<Endpoint, 'types' | 'enabled' | 'ordered' | 'replay'> & {
  types: string;
  enabled: 0 | 1;
  ordered: 0 | 1;
  replayId: string | null;
  replayAfter: number;
  replayUntil: number;
  replayTypes: string | null;
  replayDeviceId: string | null;
  replayEvents: number;
  replayStartedAt: number;
};

const COLUMNS = `application_id AS "applicationId", endpoint_id AS "endpointId", url, types, description, enabled,
  disabled_reason AS "disabledReason", ordered, rate_per_second AS "ratePerSecond", paced_until AS "pacedUntil", secret,
  former_secret AS "formerSecret", secret_replaced_at AS "secretReplacedAt", after_sequence AS "after",
  passed_over AS "passedOver", failing_since AS "failingSince", failed_in_row AS "failedInRow", refused_in_row AS "refusedInRow", last_status_code AS "lastStatusCode",
  last_error AS "lastError", told_at AS "toldAt", replay_id AS "replayId", replay_after AS "replayAfter",
  replay_until AS "replayUntil", replay_types AS "replayTypes", replay_device_id AS "replayDeviceId",
  replay_events AS "replayEvents", replay_started_at AS "replayStartedAt", settling, created_at AS "createdAt",
  updated_at AS "updatedAt"`;
const OF_KEY = 'application_id = ? AND endpoint_id = ?';

const placeOf = (column: string, { applicationId, endpointId }: EndpointKey): Place => [
  'endpoints',
  column,
  applicationId,
  endpointId,
];

const listOf = (text: string): string[] => (text === '' ? [] : text.split(','));

function toEndpoint({ vault }: Sql, row: Row): Endpoint {
  const { replayId, replayAfter, replayUntil, replayTypes, replayDeviceId, replayEvents, replayStartedAt, ...rest } =
    row;
  const open = (column: string, stored: string): string => vault.open(placeOf(column, row), stored);
  return {
    ...rest,
    url: open('url', row.url),
    types: listOf(row.types),
    enabled: row.enabled === 1,
    ordered: row.ordered === 1,
    secret: open('secret', row.secret),
    formerSecret: openOrNull(vault, placeOf('former_secret', row), row.formerSecret),
    replay:
      replayId === null
        ? null
        : {
            replayId,
            after: replayAfter,
            until: replayUntil,
            types: replayTypes === null ? null : listOf(replayTypes),
            deviceId: replayDeviceId,
            events: replayEvents,
            startedAt: replayStartedAt,
          },
  };
}

/** Undefined when there is none. A unit whose decision depends on the row passes its `forUpdate` as `lock`. */
export async function findEndpoint(
  sql: Sql,
  { applicationId, endpointId }: EndpointKey,
  lock: Lock = '',
): Promise<Endpoint | undefined> {
  const text = `SELECT ${COLUMNS} FROM endpoints WHERE ${OF_KEY}${lock}`;
  const row = await sql.get<Row>(text, applicationId, endpointId);
  return row && toEndpoint(sql, row);
}

/** The endpoints of an application, the oldest first. */
export async function listEndpoints(sql: Sql, applicationId: string): Promise<Endpoint[]> {
  const text = `SELECT ${COLUMNS} FROM endpoints WHERE application_id = ? ORDER BY endpoint_id`;
  return (await sql.all<Row>(text, applicationId)).map((row) => toEndpoint(sql, row));
}

/** The endpoints of all applications that stay, which are enabled, or whose deliveries do not fit their state yet. */
export const listServed = (sql: Sql): Promise<(EndpointKey & { developerId: string })[]> =>
  sql.all(
    `SELECT e.application_id AS "applicationId", e.endpoint_id AS "endpointId", a.developer_id AS "developerId"
     FROM endpoints e JOIN applications a ON a.application_id = e.application_id
     WHERE (e.enabled = 1 OR e.settling IS NOT NULL) AND a.removal_id IS NULL`,
  );

/** The developer of an application that stays. */
export async function findOwner(sql: Sql, applicationId: string): Promise<string | undefined> {
  const text = 'SELECT developer_id AS "developerId" FROM applications WHERE application_id = ? AND removal_id IS NULL';
  return (await sql.get<{ developerId: string }>(text, applicationId))?.developerId;
}

/** The values of the columns from `url` to `secret`. */
const chosen = ({ vault }: UnitOfWork, endpoint: Endpoint): SqlValue[] => [
  vault.seal(placeOf('url', endpoint), endpoint.url),
  endpoint.types.join(','),
  endpoint.description,
  endpoint.enabled ? 1 : 0,
  endpoint.disabledReason,
  endpoint.ordered ? 1 : 0,
  endpoint.ratePerSecond,
  endpoint.pacedUntil,
  vault.seal(placeOf('secret', endpoint), endpoint.secret),
];

export function insertEndpoint(unit: UnitOfWork, endpoint: Endpoint): void {
  unit.later(
    `INSERT INTO endpoints (application_id, endpoint_id, url, types, description, enabled, disabled_reason, ordered,
       rate_per_second, paced_until, secret, after_sequence, passed_over, failed_in_row, refused_in_row, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?)`,
    [
      endpoint.applicationId,
      endpoint.endpointId,
      ...chosen(unit, endpoint),
      endpoint.after,
      endpoint.createdAt,
      endpoint.updatedAt,
    ],
  );
}

/** Stores the properties of an endpoint that people change, its secrets, and its state. Its row is locked. */
export function saveEndpoint(unit: UnitOfWork, endpoint: Endpoint): void {
  unit.later(
    `UPDATE endpoints SET url = ?, types = ?, description = ?, enabled = ?, disabled_reason = ?, ordered = ?,
       rate_per_second = ?, paced_until = ?, secret = ?, former_secret = ?, secret_replaced_at = ?, after_sequence = ?,
       failing_since = ?, failed_in_row = ?, refused_in_row = ?, last_status_code = ?, last_error = ?, told_at = ?, settling = ?, updated_at = ? WHERE ${OF_KEY}`,
    [
      ...chosen(unit, endpoint),
      sealOrNull(unit.vault, placeOf('former_secret', endpoint), endpoint.formerSecret),
      endpoint.secretReplacedAt,
      endpoint.after,
      endpoint.failingSince,
      endpoint.failedInRow,
      endpoint.refusedInRow,
      endpoint.lastStatusCode,
      endpoint.lastError,
      endpoint.toldAt,
      endpoint.settling,
      endpoint.updatedAt,
      endpoint.applicationId,
      endpoint.endpointId,
    ],
  );
}

/** Stores how far an endpoint has taken the stream. Its row is locked. */
export const savePlace = (
  unit: UnitOfWork,
  { applicationId, endpointId }: EndpointKey,
  { after, passedOver, pacedUntil }: { after: number; passedOver: number; pacedUntil: Micros },
): void =>
  unit.later(`UPDATE endpoints SET after_sequence = ?, passed_over = ?, paced_until = ? WHERE ${OF_KEY}`, [
    after,
    passedOver,
    pacedUntil,
    applicationId,
    endpointId,
  ]);

/** Stores that the open deliveries of an endpoint fit its state. Its row is locked. */
export const saveSettled = (unit: UnitOfWork, { applicationId, endpointId }: EndpointKey): void =>
  unit.later(`UPDATE endpoints SET settling = NULL WHERE ${OF_KEY}`, [applicationId, endpointId]);

/** Stores a replay, or with null that none is running. The row of the endpoint is locked. */
export const saveReplay = (unit: UnitOfWork, { applicationId, endpointId }: EndpointKey, replay: Replay | null): void =>
  unit.later(
    `UPDATE endpoints SET replay_id = ?, replay_after = ?, replay_until = ?, replay_types = ?, replay_device_id = ?,
       replay_events = ?, replay_started_at = ? WHERE ${OF_KEY}`,
    [
      replay?.replayId ?? null,
      replay?.after ?? null,
      replay?.until ?? null,
      replay?.types?.join(',') ?? null,
      replay?.deviceId ?? null,
      replay?.events ?? null,
      replay?.startedAt ?? null,
      applicationId,
      endpointId,
    ],
  );

/** Returns the number of removed rows. */
export const deleteEndpoint = (unit: UnitOfWork, { applicationId, endpointId }: EndpointKey): Promise<number> =>
  unit.run(`DELETE FROM endpoints WHERE ${OF_KEY}`, applicationId, endpointId);

/** Deletes the endpoints of an application, in the unit of work that removes the application. */
export const forgetEndpoints = (unit: UnitOfWork, applicationId: string): Promise<number> =>
  unit.run('DELETE FROM endpoints WHERE application_id = ?', applicationId);

/** Counts the endpoints of all applications by their state. */
export async function countStates(sql: Sql): Promise<{ enabled: number; down: number; disabled: number }> {
  const row = await sql.get<{ enabled: number | null; down: number | null; disabled: number | null }>(
    `SELECT SUM(CASE WHEN enabled = 1 AND refused_in_row < ${DOWN_AFTER} THEN 1 ELSE 0 END) AS enabled,
       SUM(CASE WHEN enabled = 1 AND refused_in_row >= ${DOWN_AFTER} THEN 1 ELSE 0 END) AS down,
       SUM(CASE WHEN enabled = 0 THEN 1 ELSE 0 END) AS disabled FROM endpoints`,
  );
  return { enabled: row?.enabled ?? 0, down: row?.down ?? 0, disabled: row?.disabled ?? 0 };
}
