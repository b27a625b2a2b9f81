import type { SqlValue } from '../../platform/database/sql.ts';
import type { TagTerm, Terms, VersionTerm } from './selector.ts';

/** The most tags that a selector can name, and the most values of one of them. */
export const MOST_TAG_TERMS = 8;
export const MOST_TAG_VALUES = 16;

/** The stored time at which a device was last heard of; 0 when it never was. */
export const SEEN_AT = 'COALESCE(p.last_seen_at, 0)';

/** Lists of values have one length, so that all selectors share a few prepared statements. */
const VALUES = `(${Array(MOST_TAG_VALUES).fill('?').join(', ')})`;
const TAG = 'SELECT 1 FROM device_tags g WHERE g.device_id = d.device_id AND g.tag_key = ?';
const ONE_OF = `EXISTS (${TAG} AND g.tag_value IN ${VALUES})`;
const WITHOUT = `NOT EXISTS (${TAG})`;

const padded = (values: readonly string[]): string[] =>
  Array.from({ length: MOST_TAG_VALUES }, (_, index) => values[index] ?? values[0] ?? '');

/** Conditions of a statement whose tables are those of `from`, `device_presence p`, and those that `joins` adds. */
export interface Conditions {
  /** `devices d`, or a tag and its devices. */
  from: string;
  /** The columns of a candidate. */
  columns: string;
  /** The column of the deviceId by which the rows can be ordered without sorting. */
  deviceId: string;
  joins: string;
  joinValues: SqlValue[];
  where: string[];
  values: SqlValue[];
}

/** Adds the conditions on a version in `column` that the database can check. */
function addVersion({ where, values }: Conditions, column: string, { is, not }: VersionTerm): void {
  if (is === null) where.push(`${column} IS NULL`);
  else if (is !== undefined) {
    where.push(`${column} = ?`);
    values.push(is);
  }
  if (not === undefined) return;
  where.push(`(${column} IS NULL OR ${column} <> ?)`);
  values.push(not);
}

/** The conditions on reported values that have columns of their own. A device that has not reported a value never matches. */
function statusConditions(terms: Terms): (readonly [condition: string, value: SqlValue])[] {
  const { batteryAtLeast, charging, networkType, storageFreeAtLeast } = terms;
  const found: [string, SqlValue | undefined][] = [
    ['s.battery >= ?', batteryAtLeast],
    ['s.charging = ?', charging === undefined ? undefined : Number(charging)],
    ['s.network = ?', networkType],
    ['s.storage_free >= ?', storageFreeAtLeast],
  ];
  return found.flatMap(([condition, value]) => (value === undefined ? [] : [[condition, value] as const]));
}

/** A rollout of another application has no such device. */
const MEMBER = `EXISTS (SELECT 1 FROM rollout_members m JOIN rollouts r ON r.rollout_id = m.rollout_id
  WHERE m.rollout_id = ? AND m.device_id = d.device_id AND m.state = COALESCE(CAST(? AS TEXT), m.state) AND r.application_id = d.application_id)`;

/** Whether a device without the package can match. */
const canLack = ({ version: { is, not, range } = {} }: Terms): boolean =>
  not !== undefined && is === undefined && range === undefined;

/** The tag term whose devices are read in order from an index, if there is one. */
export const leadingTag = ({ tags = [] }: Terms): TagTerm | undefined => tags.find(({ values }) => values.length === 1);

interface Options {
  /** Joins the status of devices also when no term is about it. */
  joinsStatus?: boolean;
  /** Only devices that are activated, or being activated, for this application. */
  applicationId?: string | undefined;
  /** Whether devices may be found by a tag of the application, in the order of their deviceIds. */
  byTag?: boolean;
}

/**
 * Writes the terms that the database can check as conditions: all but ranges, `connected`, `seenSince` and `share`. The
 * status of devices is joined as `s`, the package of the terms as `w`.
 */
export function termConditions(
  terms: Terms,
  { joinsStatus = false, applicationId, byTag = false }: Options = {},
): Conditions {
  const { tags = [], firmwareVersion, lang } = terms;
  const ofStatus = statusConditions(terms);
  const readsStatus = joinsStatus || firmwareVersion !== undefined || lang !== undefined || ofStatus.length > 0;
  const conditions: Conditions = {
    columns: `d.device_id AS "deviceId", ${SEEN_AT} AS "seenAt", ${readsStatus ? 's.firmware' : 'NULL'} AS "firmware",
      ${terms.package === undefined ? 'NULL' : 'w.version'} AS "version"`,
    from: 'devices d',
    deviceId: 'd.device_id',
    joins: '',
    joinValues: [],
    where: [],
    values: [],
  };
  const { where, values } = conditions;
  if (readsStatus) conditions.joins += ' LEFT JOIN device_status s ON s.device_id = d.device_id';
  if (firmwareVersion) addVersion(conditions, 's.firmware', firmwareVersion);
  if (lang !== undefined) {
    where.push('s.lang = ?');
    values.push(lang);
  }
  for (const [condition, value] of ofStatus) {
    where.push(condition);
    values.push(value);
  }
  if (terms.member) {
    where.push(MEMBER);
    values.push(terms.member.rolloutId, terms.member.state ?? null);
  }
  if (terms.package !== undefined) {
    const join = canLack(terms) ? 'LEFT JOIN' : 'JOIN';
    conditions.joins += ` ${join} device_software w ON w.device_id = d.device_id AND w.package = ?`;
    conditions.joinValues.push(terms.package);
    if (terms.version) addVersion(conditions, 'w.version', terms.version);
  }
  const leading = byTag && applicationId !== undefined ? leadingTag(terms) : undefined;
  if (applicationId !== undefined && leading) {
    conditions.from = 'device_tags t CROSS JOIN devices d';
    conditions.deviceId = 't.device_id';
    where.push('t.application_id = ? AND t.tag_key = ? AND t.tag_value = ? AND d.device_id = t.device_id');
    values.push(applicationId, leading.key, ...leading.values);
    // The expression has no index: before PostgreSQL has statistics, it would find each device by its application.
    where.push("COALESCE(d.application_id, '') = ?");
    values.push(applicationId);
  } else if (applicationId !== undefined) {
    where.push('d.application_id = ?');
    values.push(applicationId);
  }
  for (const tag of tags.toSorted((one, other) => one.values.length - other.values.length)) {
    if (tag === leading) continue;
    const { key, values: oneOf } = tag;
    where.push(oneOf.length === 0 ? WITHOUT : ONE_OF);
    values.push(key, ...(oneOf.length === 0 ? [] : padded(oneOf)));
  }
  return conditions;
}
