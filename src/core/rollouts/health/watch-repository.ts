import { IN_LIST, inLists } from '../../../platform/database/in-lists.ts';
import type { Sql, UnitOfWork } from '../../../platform/database/sql.ts';
import type { Micros } from '../../../runtime/units.ts';
import type { MemberState } from '../rollout.ts';

/** What is kept about a device whose health is watched for a rollout. */
export interface WatchedDevice {
  deviceId: string;
  /** 1: it waits for the release, and shows how devices are without it. */
  isControl: number;
  stage: number;
  /** When it got the release, or began to be compared with those that did. */
  since: Micros;
  /** How long it is usually away at most. */
  usualGap: Micros;
  /** The time of the last report that is counted; 0 for none. */
  statusAt: Micros;
  level: number | null;
  levelAt: Micros;
  isCharging: number | null;
  /** Percent points that its battery has lost while it was not charged, and the time of that. */
  drained: number;
  drainedMicros: Micros;
  /** Free storage in MiB in its first and its last report. */
  freeFirst: number | null;
  freeFirstAt: Micros;
  freeLast: number | null;
  freeLastAt: Micros;
}

/** A watched device with what other tables say of it. */
export interface StoredWatch extends Omit<WatchedDevice, 'usualGap'> {
  /** Null until its former absences were looked up. */
  usualGap: Micros | null;
  memberState: MemberState;
  lastSeenAt: Micros | null;
  reportedAt: Micros | null;
}

const COLUMNS = `w.device_id AS "deviceId", w.is_control AS "isControl", w.stage, w.since, w.usual_gap AS "usualGap",
  w.status_at AS "statusAt", w.level, w.level_at AS "levelAt", w.is_charging AS "isCharging", w.drained, w.drained_micros AS "drainedMicros",
  w.free_first AS "freeFirst", w.free_first_at AS "freeFirstAt", w.free_last AS "freeLast", w.free_last_at AS "freeLastAt",
  m.state AS "memberState", p.last_seen_at AS "lastSeenAt", s.reported_at AS "reportedAt"`;

/** Begins to watch a device, or begins anew. */
export const watchDevice = (
  unit: UnitOfWork,
  rolloutId: string,
  { deviceId, stage }: { deviceId: string; stage: number },
  { isControl, since }: { isControl: boolean; since: Micros },
): void =>
  unit.later(
    `INSERT INTO rollout_watch (rollout_id, device_id, is_control, stage, since, status_at, level_at, drained,
       drained_micros, free_first_at, free_last_at)
     VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0)
     ON CONFLICT (rollout_id, device_id) DO UPDATE SET is_control = excluded.is_control, stage = excluded.stage,
       since = excluded.since, status_at = 0, level = NULL, level_at = 0, is_charging = NULL, drained = 0, drained_micros = 0,
       free_first = NULL, free_first_at = 0, free_last = NULL, free_last_at = 0`,
    [rolloutId, deviceId, isControl ? 1 : 0, stage, since],
  );

/** The next rollout behind `after` that has watched devices. */
export async function nextWatched(sql: Sql, after: string): Promise<string | undefined> {
  const text = 'SELECT rollout_id AS "rolloutId" FROM rollout_watch WHERE rollout_id > ? ORDER BY rollout_id LIMIT 1';
  return (await sql.get<{ rolloutId: string }>(text, after))?.rolloutId;
}

/** Whether a device with the release of a rollout is watched. */
export async function hasTreated(sql: Sql, rolloutId: string): Promise<boolean> {
  const text = 'SELECT 1 AS found FROM rollout_watch WHERE rollout_id = ? AND is_control = 0 LIMIT 1';
  return (await sql.get<{ found: number }>(text, rolloutId)) !== undefined;
}

/** Whether a device has the release of a rollout by its own word, watched or not. */
export async function hasSuccesses(sql: Sql, rolloutId: string): Promise<boolean> {
  const text = `SELECT 1 AS found FROM rollout_counts
    WHERE rollout_id = ? AND state IN ('succeeded', 'confirming') AND devices > 0 LIMIT 1`;
  return (await sql.get<{ found: number }>(text, rolloutId)) !== undefined;
}

/** A page of the watched devices of a rollout, in the order of their ids. */
export const findWatched = (sql: Sql, rolloutId: string, after: string, limit: number): Promise<StoredWatch[]> =>
  sql.all<StoredWatch>(
    `SELECT ${COLUMNS} FROM rollout_watch w
     JOIN rollout_members m ON m.rollout_id = w.rollout_id AND m.device_id = w.device_id
     LEFT JOIN device_presence p ON p.device_id = w.device_id LEFT JOIN device_status s ON s.device_id = w.device_id
     WHERE w.rollout_id = ? AND w.device_id > ? ORDER BY w.device_id LIMIT ?`,
    rolloutId,
    after,
    limit,
  );

/** Stores what was newly counted of a device, unless it began to be watched anew meanwhile. */
export const saveWatch = (unit: UnitOfWork, rolloutId: string, device: WatchedDevice): void =>
  unit.later(
    `UPDATE rollout_watch SET usual_gap = ?, status_at = ?, level = ?, level_at = ?, is_charging = ?, drained = ?, drained_micros = ?,
       free_first = ?, free_first_at = ?, free_last = ?, free_last_at = ?
     WHERE rollout_id = ? AND device_id = ? AND since = ?`,
    [
      device.usualGap,
      device.statusAt,
      device.level,
      device.levelAt,
      device.isCharging,
      device.drained,
      device.drainedMicros,
      device.freeFirst,
      device.freeFirstAt,
      device.freeLast,
      device.freeLastAt,
      rolloutId,
      device.deviceId,
      device.since,
    ],
  );

/** Ends the watch of a device, unless it began anew. */
export const forgetWatch = (unit: UnitOfWork, rolloutId: string, { deviceId, since }: StoredWatch): void =>
  unit.later('DELETE FROM rollout_watch WHERE rollout_id = ? AND device_id = ? AND since = ?', [
    rolloutId,
    deviceId,
    since,
  ]);

/** Ends the watch of some devices of a rollout. Returns their number. */
export const forgetWatches = (unit: UnitOfWork, rolloutId: string, limit: number): Promise<number> =>
  unit.run(
    `DELETE FROM rollout_watch WHERE rollout_id = ? AND device_id IN
       (SELECT device_id FROM rollout_watch WHERE rollout_id = ? LIMIT ?)`,
    rolloutId,
    rolloutId,
    limit,
  );

/** Waiting members that are not watched, those that are served last first: they wait the longest. */
export const findUnwatched = (sql: Sql, rolloutId: string, stage: number, limit: number) =>
  sql.all<{ deviceId: string; stage: number; lastSeenAt: Micros | null }>(
    `SELECT m.device_id AS "deviceId", m.stage, p.last_seen_at AS "lastSeenAt" FROM rollout_members m
     LEFT JOIN device_presence p ON p.device_id = m.device_id
     WHERE m.rollout_id = ? AND m.state = 'waiting' AND m.stage > ? AND NOT EXISTS
       (SELECT 1 FROM rollout_watch w WHERE w.rollout_id = m.rollout_id AND w.device_id = m.device_id)
     ORDER BY m.stage DESC, m.place DESC LIMIT ?`,
    rolloutId,
    stage,
    limit,
  );

/** Beginnings and ends of connections of a device before a time, the latest first. */
export const connectionsBefore = (sql: Sql, deviceId: string, before: string, limit: number) =>
  sql.all<{ kind: 'connected' | 'ended'; at: Micros; lastAt: Micros }>(
    `SELECT kind, at, last_at AS "lastAt" FROM connection_log
     WHERE device_id = ? AND fact_id < ? AND kind IN ('connected', 'ended') ORDER BY fact_id DESC LIMIT ?`,
    deviceId,
    before,
    limit,
  );

/** A part of the watched devices: those of a page. */
export interface Part {
  rolloutId: string;
  after: string;
  last: string;
}

/** How often each device of a part has connected since a time, without the first moments after its result. */
export const countConnections = (
  sql: Sql,
  { rolloutId, after, last }: Part,
  fromFact: string,
  from: Micros,
  settles: Micros,
): Promise<{ deviceId: string; count: number }[]> =>
  sql.all(
    `SELECT w.device_id AS "deviceId", CAST(SUM(c.count) AS INTEGER) AS count FROM rollout_watch w
     JOIN connection_log c ON c.device_id = w.device_id AND c.fact_id >= ? AND c.kind = 'connected'
     WHERE w.rollout_id = ? AND w.device_id > ? AND w.device_id <= ? AND c.last_at >= ? AND c.last_at >= w.since + ?
     GROUP BY w.device_id`,
    fromFact,
    rolloutId,
    after,
    last,
    from,
    settles,
  );

/** How many events of the types each device of a part has sent since a time. */
export async function countEvents(sql: Sql, { rolloutId, after, last }: Part, types: readonly string[], from: Micros) {
  const found: { deviceId: string; type: string; count: number }[] = [];
  for (const list of inLists(types))
    found.push(
      ...(await sql.all<{ deviceId: string; type: string; count: number }>(
        `SELECT w.device_id AS "deviceId", e.type, CAST(COUNT(*) AS INTEGER) AS count FROM rollout_watch w
         JOIN device_events e ON e.device_id = w.device_id AND e.received_at >= ?
         WHERE w.rollout_id = ? AND w.device_id > ? AND w.device_id <= ? AND e.received_at >= w.since AND e.type IN ${IN_LIST}
         GROUP BY w.device_id, e.type`,
        from,
        rolloutId,
        after,
        last,
        ...list,
      )),
    );
  return found;
}

/** How many other commands have failed on each device of a part since a time. */
export const countFailures = (sql: Sql, { rolloutId, after, last }: Part, applicationId: string, from: Micros) =>
  sql.all<{ deviceId: string; count: number }>(
    `SELECT w.device_id AS "deviceId", CAST(COUNT(*) AS INTEGER) AS count FROM transactions t
     JOIN rollout_watch w ON w.rollout_id = ? AND w.device_id = t.device_id
     WHERE t.application_id = ? AND t.completed_at >= ? AND t.error_code IS NOT NULL AND t.completed_at >= w.since
       AND t.error_code NOT IN ('EXPIRED', 'SUPERSEDED') AND COALESCE(t.rollout_id, '') <> w.rollout_id
       AND w.device_id > ? AND w.device_id <= ?
     GROUP BY w.device_id`,
    rolloutId,
    applicationId,
    from,
    after,
    last,
  );

/** The findings of the last look at the health of a rollout. */
export interface StoredHealth {
  /** JSON. */
  figures: string;
  /** How often the groups were compared, and the time that the treated devices had been observed then, all together. */
  looks: number;
  observed: Micros;
}

export const findHealth = (sql: Sql, rolloutId: string): Promise<StoredHealth | undefined> =>
  sql.get<StoredHealth>('SELECT figures, looks, observed FROM rollout_health WHERE rollout_id = ?', rolloutId);

export const saveHealth = (unit: UnitOfWork, rolloutId: string, { figures, looks, observed }: StoredHealth): void =>
  unit.later(
    `INSERT INTO rollout_health (rollout_id, figures, looks, observed) VALUES (?, ?, ?, ?)
     ON CONFLICT (rollout_id) DO UPDATE SET figures = excluded.figures, looks = excluded.looks,
       observed = excluded.observed`,
    [rolloutId, figures, looks, observed],
  );
