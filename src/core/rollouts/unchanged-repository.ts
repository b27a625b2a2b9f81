import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import type { Sql, SqlValue } from '../../platform/database/sql.ts';
import type { RolloutOperation } from './rollout.ts';

/** The statement that finds the devices that have the wanted state already; undefined for operations that report none. */
function statementFor(operation: RolloutOperation, asked: unknown): { text: string; values: SqlValue[] } | undefined {
  if (operation === 'setLanguage') {
    const { lang } = asked as SchemaTypes['rest/language-setting'];
    return { text: 'SELECT device_id AS "deviceId" FROM device_status WHERE lang = ?', values: [lang.toLowerCase()] };
  }
  if (operation !== 'installSoftware' && operation !== 'updateFirmware') return undefined;
  const { package: name, version } = asked as SchemaTypes['rest/install-request'];
  if (operation === 'updateFirmware')
    return { text: 'SELECT device_id AS "deviceId" FROM device_status WHERE firmware = ?', values: [version] };
  return {
    text: 'SELECT device_id AS "deviceId" FROM device_software WHERE package = ? AND version = ?',
    values: [name, version],
  };
}

/** Those of the devices that have reported the version, or the language, that a command would give them. */
export async function findUnchanged(
  sql: Sql,
  operation: RolloutOperation,
  asked: unknown,
  deviceIds: readonly string[],
): Promise<Set<string>> {
  const statement = statementFor(operation, asked);
  const found = new Set<string>();
  if (!statement) return found;
  for (const list of inLists(deviceIds)) {
    const text = `${statement.text} AND device_id IN ${IN_LIST}`;
    const rows = await sql.all<{ deviceId: string }>(text, ...statement.values, ...list);
    for (const { deviceId } of rows) found.add(deviceId);
  }
  return found;
}

/** Those of the devices that are activated for the application. Reports of other devices are not its business. */
export async function activatedAmong(sql: Sql, applicationId: string, deviceIds: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const list of inLists(deviceIds)) {
    // The expression has no index: before PostgreSQL has statistics, it would read all devices of the application.
    const rows = await sql.all<{ deviceId: string }>(
      `SELECT device_id AS "deviceId" FROM devices
       WHERE COALESCE(application_id, '') = ? AND activation = 'activated' AND device_id IN ${IN_LIST}`,
      applicationId,
      ...list,
    );
    found.push(...rows.map(({ deviceId }) => deviceId));
  }
  return found;
}
