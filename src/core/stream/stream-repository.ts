import type { Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { EventNumbers } from '../webhooks/delivery.ts';
import type { StreamFilter } from './stream-filter.ts';

/** An event as its row has it. */
export interface StoredEvent extends EventNumbers {
  eventId: string;
  sequence: number;
  deviceId: string;
  type: string;
  createdAt: Micros;
  traceparent: string | null;
  /** The body as it was recorded, without the numbers. */
  body: string;
}

/** The most rows that one query looks at for the events of a filter. */
const MOST_EXAMINED = 1_000;

/** A range of types, for a beginning such as `transaction.*`: the character behind the dot is the slash. */
const rangeOf = (beginning: string): [string, string] => [beginning.slice(0, -1), `${beginning.slice(0, -2)}/`];

/** The condition of the rows that a filter wants. */
function conditionOf({ types, deviceId }: StreamFilter): { terms: string[]; values: string[] } {
  const ofTypes = (types ?? []).map((type) => (type.endsWith('.*') ? '(type >= ? AND type < ?)' : 'type = ?'));
  const values = (types ?? []).flatMap((type) => (type.endsWith('.*') ? rangeOf(type) : [type]));
  const terms = ofTypes.length > 0 ? [`(${ofTypes.join(' OR ')})`] : [];
  if (deviceId !== undefined) {
    terms.push('device_id = ?');
    values.push(deviceId);
  }
  return { terms, values };
}

/**
 * The next events of a filter behind a number and up to another one, in order. `examined` is the number up to which the
 * stream was looked at, so the next page begins there, also when no event matched; `more`: there may be further ones.
 */
export async function findEvents(
  sql: Sql,
  applicationId: string,
  { types, deviceId }: StreamFilter,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<{ events: StoredEvent[]; examined: number; more: boolean }> {
  const isFiltered = types !== undefined || deviceId !== undefined;
  const range = [applicationId, after, upTo];
  const most = isFiltered ? MOST_EXAMINED : limit;
  const rows = `FROM deliveries WHERE application_id IN (?) AND sequence > ? AND sequence <= ?
    ORDER BY sequence LIMIT (? + 0)`;
  const { terms, values } = conditionOf({ types, deviceId });
  const events = await sql.all<StoredEvent>(
    `SELECT delivery_id AS "eventId", sequence, device_sequence AS "deviceSequence",
       device_id AS "deviceId", type, body, created_at AS "createdAt", traceparent FROM
       (SELECT delivery_id, device_id, sequence, device_sequence, type, body, created_at, traceparent ${rows}) AS seen
     ${isFiltered ? `WHERE ${terms.join(' AND ')}` : ''} ORDER BY sequence LIMIT (? + 0)`,
    ...range,
    most,
    ...values,
    limit,
  );
  if (events.length === limit) return { events, examined: events.at(-1)?.sequence ?? after, more: true };
  if (!isFiltered) return { events, examined: upTo, more: false };
  const seen = await sql.get<{ count: number; last: number | null }>(
    `SELECT count(*) AS count, MAX(sequence) AS last FROM (SELECT sequence ${rows}) AS seen`,
    ...range,
    most,
  );
  const more = seen?.count === most;
  return { events, examined: more ? (seen.last ?? after) : upTo, more };
}

/** Those of the given applications that have an event with a number in (after, upTo]; PostgreSQL only. */
export async function findFresh(
  sql: Sql,
  applicationIds: readonly string[],
  after: number,
  upTo: number,
): Promise<string[]> {
  const rows = await sql.all<{ applicationId: string }>(
    `SELECT given.id AS "applicationId" FROM unnest(string_to_array(?, ',')) AS given (id) WHERE EXISTS
       (SELECT 1 FROM deliveries d WHERE d.application_id = given.id AND d.sequence > ? AND d.sequence <= ?)`,
    applicationIds.join(','),
    after,
    upTo,
  );
  return rows.map(({ applicationId }) => applicationId);
}

/** The number up to which events of the application may have been removed, because they were old; 0: none was. */
export async function findRemovedUpTo(sql: Sql, applicationId: string): Promise<number> {
  const text = `SELECT last FROM event_counts WHERE application_id = ? AND device_id = ''`;
  return (await sql.get<{ last: number }>(text, applicationId))?.last ?? 0;
}

/** The number of the application's newest event, also of one that was removed; 0 when it has had none. */
export async function findNewest(sql: Sql, applicationId: string, upTo: number): Promise<number> {
  const row = await sql.get<{ sequence: number }>(
    'SELECT sequence FROM deliveries WHERE application_id IN (?) AND sequence <= ? ORDER BY sequence DESC LIMIT 1',
    applicationId,
    upTo,
  );
  return Math.max(row?.sequence ?? 0, await findRemovedUpTo(sql, applicationId));
}

/** How many events are behind a number, at most `most`, and when the first of them was made. */
export async function countBehind(
  sql: Sql,
  applicationId: string,
  after: number,
  most: number,
): Promise<{ count: number; since: number | null }> {
  // The index has all that is counted; one row is read for its time.
  const behind = 'FROM deliveries WHERE application_id IN (?) AND sequence > ? ORDER BY sequence LIMIT';
  const text = `SELECT count(*) AS count FROM (SELECT sequence ${behind} (? + 0)) AS behind`;
  const counted = await sql.get<{ count: number }>(text, applicationId, after, most);
  const first = await sql.get<{ at: number }>(`SELECT created_at AS at ${behind} 1`, applicationId, after);
  return { count: counted?.count ?? 0, since: first?.at ?? null };
}

/** The rows at the edge of a time that are looked at: those of one moment can have been committed in another order. */
const EDGE = 1_000;

/**
 * The number before that of the first event that was made from a time on (`first`), or the number of the last one that was made
 * before it (`last`). The time is given as the beginning of identifiers.
 */
export async function findEdge(sql: Sql, applicationId: string, id: string, edge: 'first' | 'last'): Promise<number> {
  const isFirst = edge === 'first';
  const rows = `SELECT sequence FROM deliveries WHERE application_id = ? AND delivery_id ${isFirst ? '>=' : '<'} ?
    AND sequence IS NOT NULL ORDER BY delivery_id ${isFirst ? '' : 'DESC '}LIMIT ${EDGE}`;
  const row = await sql.get<{ found: number | null }>(
    `SELECT ${isFirst ? 'MIN' : 'MAX'}(sequence) AS found FROM (${rows}) AS edge`,
    applicationId,
    id,
  );
  const found = row?.found ?? null;
  if (!isFirst) return found ?? 0;
  return found === null ? Number.MAX_SAFE_INTEGER : found - 1;
}

/** The most rows that one query counts. */
const COUNTED_AT_ONCE = 10_000;

/** Counts the events of a filter in a part of the stream, at most `most`. */
export async function countMatching(
  sql: Sql,
  applicationId: string,
  filter: StreamFilter,
  { after, upTo, most }: { after: number; upTo: number; most: number },
): Promise<number> {
  const { terms, values } = conditionOf(filter);
  const text = `SELECT count(*) AS seen, MAX(sequence) AS last, COALESCE(SUM(CASE WHEN ${terms.join(' AND ') || '1 = 1'}
      THEN 1 ELSE 0 END), 0) AS found FROM
    (SELECT sequence, type, device_id FROM deliveries WHERE application_id IN (?) AND sequence > ? AND sequence <= ?
     ORDER BY sequence LIMIT ${COUNTED_AT_ONCE}) AS part`;
  let [count, next] = [0, after];
  while (next < upTo && count < most) {
    const part = await sql.get<{ seen: number; last: number | null; found: number }>(
      text,
      ...values,
      applicationId,
      next,
      upTo,
    );
    count += part?.found ?? 0;
    if (!part || part.seen < COUNTED_AT_ONCE) break;
    next = part.last ?? upTo;
  }
  return Math.min(count, most);
}
