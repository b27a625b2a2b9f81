import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import type { Sql, SqlValue } from '../../platform/database/sql.ts';
import type { Candidate } from './candidate.ts';
import type { TagTerm, Terms } from './selector.ts';
import { termConditions } from './term-conditions.ts';

/** A candidate, with its installed version of one more package. */
export interface CountedCandidate extends Candidate {
  lot: number;
  has: string | null;
}

interface Asked {
  applicationId: string;
  terms: Terms;
  /** The package whose installed version is read as `has`. */
  versionOf?: string | undefined;
  /** Reads the firmware also when no term is about it. */
  readsFirmware?: boolean;
}

/** The conditions and columns of all statements about candidates: activated devices of the application. */
function candidates({ applicationId, terms, versionOf, readsFirmware = false }: Asked, byTag: boolean) {
  const { columns, from, deviceId, joins, joinValues, where, values } = termConditions(terms, {
    joinsStatus: readsFirmware,
    applicationId,
    byTag,
  });
  const has =
    versionOf === undefined ? '' : ' LEFT JOIN device_software x ON x.device_id = d.device_id AND x.package = ?';
  const text = `SELECT ${columns}, d.lot, ${versionOf === undefined ? 'NULL' : 'x.version'} AS "has" FROM ${from}
    LEFT JOIN device_presence p ON p.device_id = d.device_id${joins}${has}
    WHERE ${[...where, `d.activation = 'activated'`].join(' AND ')}`;
  const given: SqlValue[] = [...joinValues, ...(versionOf === undefined ? [] : [versionOf]), ...values];
  return { text, deviceId, given };
}

/** Finds the next candidates behind a deviceId, in the order of their deviceIds. */
export function findCandidates(sql: Sql, asked: Asked, after: string, limit: number): Promise<CountedCandidate[]> {
  const { text, deviceId, given } = candidates(asked, true);
  return sql.all(`${text} AND ${deviceId} > ? ORDER BY ${deviceId} LIMIT ?`, ...given, after, limit);
}

/** Finds the candidates among the given devices, in the order of their deviceIds within each list of these. */
export async function findCandidatesAmong(
  sql: Sql,
  asked: Asked,
  deviceIds: readonly string[],
): Promise<CountedCandidate[]> {
  const { text, given } = candidates(asked, false);
  const found: CountedCandidate[] = [];
  for (const list of inLists(deviceIds)) {
    const among = `${text} AND d.device_id IN ${IN_LIST} ORDER BY d.device_id`;
    found.push(...(await sql.all<CountedCandidate>(among, ...given, ...list)));
  }
  return found;
}

/** Finds the next candidates of a sample, in the order of their lots. */
export function findCandidatesOfSample(
  sql: Sql,
  asked: Asked,
  { highest, after, limit }: { highest: number; after: { lot: number; deviceId: string }; limit: number },
): Promise<CountedCandidate[]> {
  const { text, given } = candidates(asked, false);
  return sql.all(
    `${text} AND d.lot <= ? AND (d.lot > ? OR (d.lot = ? AND d.device_id > ?)) ORDER BY d.lot, d.device_id LIMIT ?`,
    ...given,
    highest,
    after.lot,
    after.lot,
    after.deviceId,
    limit,
  );
}

/** The number of devices that are activated for an application. */
export async function countActivated(sql: Sql, applicationId: string): Promise<number> {
  const row = await sql.get<{ activated: number }>(
    'SELECT activated FROM activated_counts WHERE application_id = ?',
    applicationId,
  );
  return row?.activated ?? 0;
}

/** Counts the devices that have one of the values of a tag, up to `most`. */
export async function countTagged(
  sql: Sql,
  applicationId: string,
  { key, values }: TagTerm,
  most: number,
): Promise<number> {
  let counted = 0;
  for (const value of values) {
    const row = await sql.get<{ devices: number }>(
      `SELECT count(*) AS "devices" FROM (SELECT 1 FROM device_tags
         WHERE application_id = ? AND tag_key = ? AND tag_value = ? LIMIT ?) few`,
      applicationId,
      key,
      value,
      most - counted,
    );
    counted += row?.devices ?? 0;
    if (counted >= most) break;
  }
  return counted;
}

/**
 * Finds a sample of about `size` devices of an application: the highest lot of the sample, and the number of its devices.
 */
export async function findSample(
  sql: Sql,
  applicationId: string,
  size: number,
): Promise<{ highest: number; devices: number }> {
  const last = await sql.get<{ lot: number }>(
    `SELECT lot FROM devices WHERE application_id = ? AND activation = 'activated' ORDER BY lot LIMIT 1 OFFSET ?`,
    applicationId,
    size - 1,
  );
  const highest = last?.lot ?? Number.MAX_SAFE_INTEGER;
  const row = await sql.get<{ devices: number }>(
    `SELECT count(*) AS "devices" FROM devices WHERE application_id = ? AND activation = 'activated' AND lot <= ?`,
    applicationId,
    highest,
  );
  return { highest, devices: row?.devices ?? 0 };
}
