import type { Sql, SqlValue } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Delivery } from './delivery.ts';

/** Which deliveries get an earlier time: those changed after `ahead`, with so many attempts at most. */
export interface PulledBack {
  now: Micros;
  ahead: Micros;
  mostAttempts: number;
}

/** A receiver, whose name is a setting or an endpoint. */
interface Named<Name> {
  applicationId: string;
  setting: Name;
}

/** The table of deliveries to one kind of receivers. */
interface DueTable {
  table: string;
  /** The column with the name of the receiver. */
  column: string;
  /** The columns that an attempt needs, and where they are from; `of` stands before the columns of the table there. */
  attempted: string;
  of: '' | 'e.';
  /** The column with the identifier of the event, and the one that orders deliveries which are due at one time. */
  id: string;
  order: string;
  /** Selects the deliveries that have a next attempt, or will have one. */
  waiting: string;
  /** The columns of the primary key. */
  key: readonly string[];
}

/** The statements that find the deliveries which are due; an index has the pending ones by receiver and time. */
export function dueRows<Name extends string>({ table, column, attempted, of, id, order, waiting, key }: DueTable) {
  const due = `SELECT ${attempted} WHERE ${of}status = 'pending' AND ${of}application_id = ? AND ${of}${column} = ?
       AND ${of}next_attempt_at <= ?`;
  const inOrder = `ORDER BY ${of}next_attempt_at, ${of}${order} LIMIT`;
  const pending = `FROM ${table} WHERE status = 'pending'`;
  const named = `application_id AS "applicationId", ${column} AS setting, next_attempt_at AS "nextAttemptAt"`;
  return {
    /** The due deliveries of one receiver, the earliest due first. */
    findDue: (sql: Sql, { applicationId, setting }: Named<Name>, now: Micros, limit: number): Promise<Delivery[]> =>
      sql.all(`${due} ${inOrder} ?`, applicationId, setting, now, limit),

    /**
     * Like `findDue`, without the deliveries that are in memory, by their identifiers and rounds; PostgreSQL only. Each
     * delivery that is read is compared with each of them.
     */
    findOtherDue: (
      sql: Sql,
      { applicationId, setting }: Named<Name>,
      held: ReadonlyMap<string, number>,
      { now, limit }: { now: Micros; limit: number },
    ): Promise<Delivery[]> =>
      sql.all(
        `${due} AND ${of}${id} || ' ' || ${of}round <> ALL (string_to_array(?, ',')) ${inOrder} CAST(? AS BIGINT)`,
        applicationId,
        setting,
        now,
        Array.from(held, ([deliveryId, round]) => `${deliveryId} ${round}`).join(','),
        limit,
      ),

    /** The time at which the receiver's next delivery becomes due, after `now`. */
    async findNextDue(sql: Sql, { applicationId, setting }: Named<Name>, now: Micros): Promise<number | undefined> {
      const row = await sql.get<{ at: number }>(
        `SELECT next_attempt_at AS at ${pending} AND application_id = ? AND ${column} = ? AND next_attempt_at > ?
         ORDER BY next_attempt_at LIMIT 1`,
        applicationId,
        setting,
        now,
      );
      return row?.at;
    },

    /**
     * The next receiver with a pending delivery after `after` (in the order of the names), and the time at which its first
     * one is due. It takes two seeks in the index, however many rows a receiver has; comparing both columns at once would
     * scan them.
     */
    async findNextReceiver(
      sql: Sql,
      after: { applicationId: string; setting: string },
    ): Promise<(Named<Name> & { nextAttemptAt: number }) | undefined> {
      const sameApplication = await sql.get<Named<Name> & { nextAttemptAt: number }>(
        `SELECT ${named} ${pending} AND application_id = ? AND ${column} > ?
         ORDER BY ${column}, next_attempt_at LIMIT 1`,
        after.applicationId,
        after.setting,
      );
      if (sameApplication) return sameApplication;
      return sql.get(
        `SELECT ${named} ${pending} AND application_id > ?
         ORDER BY application_id, ${column}, next_attempt_at LIMIT 1`,
        after.applicationId,
      );
    },

    /**
     * All receivers with a pending delivery, each with the time at which its first one is due; one recursive query,
     * PostgreSQL only.
     */
    findReceivers: (sql: Sql): Promise<(Named<Name> & { nextAttemptAt: number })[]> =>
      sql.all(
        `WITH RECURSIVE found AS (
           (SELECT application_id, ${column}, next_attempt_at ${pending}
            ORDER BY application_id, ${column}, next_attempt_at LIMIT 1)
           UNION ALL
           SELECT next.* FROM found CROSS JOIN LATERAL
             (SELECT application_id, ${column}, next_attempt_at ${pending}
                AND (application_id, ${column}) > (found.application_id, found.${column})
              ORDER BY application_id, ${column}, next_attempt_at LIMIT 1) AS next)
         SELECT ${named} FROM found`,
      ),

    /** Whether the next attempt of a delivery is later than any schedule says: the clock was ahead when it was set. */
    isPutOff: async (sql: Sql, latest: Micros): Promise<boolean> =>
      (await sql.get(`SELECT 1 AS one FROM ${table} WHERE ${waiting} AND next_attempt_at > ? LIMIT 1`, latest)) !==
      undefined,

    /** Makes such deliveries due at `now`; returns their number. */
    pullDown: (sql: Sql, now: Micros, latest: Micros): Promise<number> =>
      sql.run(`UPDATE ${table} SET next_attempt_at = ? WHERE ${waiting} AND next_attempt_at > ?`, now, latest),

    /**
     * Moves deliveries that were changed after `ahead` to `now`, with the wait that they had then: that for a retry, or that
     * of a pace. Looks at those behind a key, in their order, and changes at most `limit`; `last` is the key of the last one.
     */
    async pullBack(
      sql: Sql,
      { now, ahead, mostAttempts }: PulledBack,
      after: readonly SqlValue[] | undefined,
      limit: number,
    ): Promise<{ pulled: number; last: SqlValue[] | undefined }> {
      const names = key.join(', ');
      const marks = key.map(() => '?').join(', ');
      const late = `${waiting} AND next_attempt_at > ? AND updated_at > ? AND attempts <= ?`;
      const found = await sql.all<Record<string, SqlValue>>(
        `SELECT ${names} FROM ${table} WHERE ${late}${after ? ` AND (${names}) > (${marks})` : ''}
         ORDER BY ${names} LIMIT (? + 0)`,
        ahead,
        ahead,
        mostAttempts,
        ...(after ?? []),
        limit,
      );
      const end = found.at(-1);
      if (!end) return { pulled: 0, last: undefined };
      const last = key.map((name) => end[name] as SqlValue);
      const pulled = await sql.run(
        `UPDATE ${table} SET updated_at = ?,
           next_attempt_at = ? + CASE WHEN next_attempt_at > updated_at THEN next_attempt_at - updated_at ELSE 0 END
         WHERE ${late}${after ? ` AND (${names}) > (${marks})` : ''} AND (${names}) <= (${marks})`,
        now,
        now,
        ahead,
        ahead,
        mostAttempts,
        ...(after ?? []),
        ...last,
      );
      return { pulled, last: found.length < limit ? undefined : last };
    },
  };
}
