import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import { daysInMicros, ROWS_PER_READ, type Sweep } from '../../platform/database/sweep.ts';
import { type Clearing, leavingApplications } from '../applications/clearing.ts';
import { findRemovedUpTo } from '../stream/stream-repository.ts';
import { OPEN } from './delivery-columns.ts';
import type { EndpointDeliveryStatus, EndpointKey } from './endpoint.ts';
import { findEndpoint } from './endpoint-repository.ts';

/** A delivery to an endpoint, by its key. */
interface DeliveryOfEndpoint extends EndpointKey {
  sequence: number;
}

const OF_ROW = 'application_id = ? AND endpoint_id = ? AND sequence = ?';
/** The event of a delivery is gone, so it can never be sent. */
const IS_GONE = `NOT EXISTS (SELECT 1 FROM deliveries d
  WHERE d.application_id = endpoint_deliveries.application_id AND d.delivery_id = endpoint_deliveries.event_id)`;
/** The same, or it is through for long. */
const IS_OLD = `((status NOT IN ('pending', 'blocked') AND updated_at < ?) OR ${IS_GONE})`;

/** The endpoint with deliveries that comes behind the given one, by its key. */
async function findNext(
  sql: Sql,
  after: { applicationId: string; endpointId: string },
): Promise<EndpointKey | undefined> {
  const columns = 'application_id AS "applicationId", endpoint_id AS "endpointId"';
  const sameApplication = await sql.get<EndpointKey>(
    `SELECT ${columns} FROM endpoint_deliveries WHERE application_id = ? AND endpoint_id > ?
     ORDER BY application_id, endpoint_id LIMIT 1`,
    after.applicationId,
    after.endpointId,
  );
  if (sameApplication) return sameApplication;
  return sql.get(
    `SELECT ${columns} FROM endpoint_deliveries WHERE application_id > ? ORDER BY application_id, endpoint_id LIMIT 1`,
    after.applicationId,
  );
}

async function* endpointsWithDeliveries(sql: Sql): AsyncGenerator<EndpointKey> {
  let found = await findNext(sql, { applicationId: '', endpointId: '' });
  for (; found; found = await findNext(sql, found)) yield found;
}

const findRows = (sql: Sql, { applicationId, endpointId }: EndpointKey, after: number, upTo: number) =>
  sql.all<DeliveryOfEndpoint & { createdAt: number; status: EndpointDeliveryStatus }>(
    `SELECT application_id AS "applicationId", endpoint_id AS "endpointId", sequence, created_at AS "createdAt", status
     FROM endpoint_deliveries WHERE application_id = ? AND endpoint_id = ? AND sequence > ? AND sequence <= ?
     ORDER BY sequence LIMIT ${ROWS_PER_READ}`,
    applicationId,
    endpointId,
    after,
    upTo,
  );

/**
 * Removes the deliveries to endpoints whose events were removed because they were old, and those of endpoints that are gone,
 * endpoint by endpoint, along the numbers of the events.
 */
export const endpointSweep = ({
  keptDays,
}: {
  keptDays: number;
}): Sweep<DeliveryOfEndpoint & { isOrphan: boolean; status: EndpointDeliveryStatus }> => ({
  kind: 'endpoint_deliveries',
  keptForMicros: daysInMicros(keptDays),
  async *find(sql) {
    for await (const key of endpointsWithDeliveries(sql)) {
      const isOrphan = (await findEndpoint(sql, key)) === undefined;
      const upTo = isOrphan ? Number.MAX_SAFE_INTEGER : await findRemovedUpTo(sql, key.applicationId);
      let after = 0;
      for (;;) {
        const rows = await findRows(sql, key, after, upTo);
        if (rows.length === 0) break;
        after = rows.at(-1)?.sequence ?? after;
        yield { found: rows.map((row) => ({ ...row, isOrphan })), oldestAt: rows[0]?.createdAt };
      }
    }
  },
  async remove(unit, { applicationId, endpointId, sequence, isOrphan, status }, before) {
    const key = [applicationId, endpointId, sequence];
    if (isOrphan) return removeRow(unit, { applicationId, endpointId, sequence });
    // The row of the endpoint comes first, as in all units that change both.
    if (status === 'pending' || status === 'blocked')
      await unit.run(
        `UPDATE endpoints SET passed_over = ? WHERE application_id = ? AND endpoint_id = ? AND passed_over < ? AND EXISTS
           (SELECT 1 FROM endpoint_deliveries WHERE ${OF_ROW} AND ${OPEN} AND ${IS_GONE})`,
        sequence,
        ...key,
        ...key,
      );
    return unit.run(`DELETE FROM endpoint_deliveries WHERE ${OF_ROW} AND ${IS_OLD}`, ...key, before);
  },
  async oldestAt(sql) {
    let oldest = Number.POSITIVE_INFINITY;
    for await (const key of endpointsWithDeliveries(sql)) {
      const row = await sql.get<{ at: number }>(
        `SELECT created_at AS at FROM endpoint_deliveries WHERE application_id = ? AND endpoint_id = ?
         ORDER BY sequence LIMIT 1`,
        key.applicationId,
        key.endpointId,
      );
      oldest = Math.min(oldest, row?.at ?? oldest);
    }
    return Number.isFinite(oldest) ? oldest : null;
  },
});

const removeRow = (unit: UnitOfWork, { applicationId, endpointId, sequence }: DeliveryOfEndpoint): Promise<number> =>
  unit.run(`DELETE FROM endpoint_deliveries WHERE ${OF_ROW}`, applicationId, endpointId, sequence);

/** Removes the deliveries to the endpoints of a customer. They are no events of their own, so they are not counted. */
export const endpointClearing = (): Clearing<DeliveryOfEndpoint> => ({
  kind: 'deliveries',
  async *find(sql, leaver) {
    for await (const applicationId of leavingApplications(sql, leaver)) {
      let key = await findNext(sql, { applicationId, endpointId: '' });
      for (; key?.applicationId === applicationId; key = await findNext(sql, key)) {
        for (let after = 0; ; ) {
          const rows = await findRows(sql, key, after, Number.MAX_SAFE_INTEGER);
          if (rows.length === 0) break;
          yield rows;
          after = rows.at(-1)?.sequence ?? after;
        }
      }
    }
  },
  async remove(unit, row) {
    await removeRow(unit, row);
    return {};
  },
});
