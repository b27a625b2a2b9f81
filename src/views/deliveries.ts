import {
  type DeliveryListFilter,
  findApplicationsOf,
  findHeads,
  findOfTransaction,
  listDeliveries,
  listPendingOfAll,
} from '../core/webhooks/delivery-log-repository.ts';
import type { DeliverySummary } from '../core/webhooks/delivery-record.ts';
import type { Page } from '../platform/database/newest-first.ts';
import type { Database } from '../platform/database/sql.ts';

interface Query extends DeliveryListFilter {
  applicationId?: string;
  after?: string;
  limit: number;
}

interface Listed {
  rows: DeliverySummary[];
  /** Behind which the next page begins; undefined on the last one. */
  next: string | undefined;
}

/** Rows of one application that one page looks at, with a filter. */
const FILTERED = 2_000;
/** Behind every id. */
const LAST = 'msg_~';

/**
 * Deliveries of all applications, newest first. Those of each are in order, and are merged: of as many applications as a page
 * needs, each by a bounded look. On a thread of its own.
 */
export function createAllDeliveries({ database: { aside } }: { database: Pick<Database, 'aside'> }) {
  const pageOf = (applicationId: string, query: Query): Promise<Page<DeliverySummary>> => {
    const { applicationId: _of, ...filter } = query;
    // Of many applications each gives no more than one page needs.
    const { status, setting, deviceId, transactionId, limit } = query;
    const isAll = [status, setting, deviceId, transactionId].every((wanted) => wanted === undefined);
    return listDeliveries(aside, applicationId, { ...filter, offset: 0, mostExamined: isAll ? limit + 1 : FILTERED });
  };

  async function merged(query: Query): Promise<Listed> {
    const { after = LAST, limit } = query;
    let rows: DeliverySummary[] = [];
    /** What is behind it was not looked at. */
    let floor: string | undefined;
    const raise = (to: string | undefined): void => {
      if (to !== undefined && (floor === undefined || to > floor)) floor = to;
    };
    const { deviceId } = query;
    const own = deviceId === undefined ? undefined : new Set(await findApplicationsOf(aside, deviceId));
    for (const { applicationId, head } of await findHeads(aside, after)) {
      if (own && !own.has(applicationId)) continue;
      const last = rows[limit - 1]?.deliveryId;
      if (last !== undefined && head < last) raise(last);
      if (floor !== undefined && head < floor) break; // and so are all that follow
      const page = await pageOf(applicationId, query);
      rows = [...rows, ...page.rows].sort((a, b) => (a.deliveryId < b.deliveryId ? 1 : -1));
      raise(page.next && String(page.next.after));
      if (rows.length > limit) raise(rows[limit - 1]?.deliveryId);
      const bound: string = floor ?? '';
      rows = rows.filter(({ deliveryId }) => deliveryId >= bound);
    }
    return { rows, next: floor };
  }

  async function pending(query: Query): Promise<Listed> {
    const { after = LAST, limit } = query;
    const found = await listPendingOfAll(aside, query, after, limit + 1);
    const rows = found.slice(0, limit);
    return { rows, next: found.length > limit ? rows.at(-1)?.deliveryId : undefined };
  }

  async function ofTransaction(query: Query, transactionId: number): Promise<Listed> {
    const found = await findOfTransaction(aside, transactionId);
    if (!found || (query.applicationId !== undefined && query.applicationId !== found.applicationId))
      return { rows: [], next: undefined };
    if (found.deliveryId === null) return ofOne(query, found.applicationId);
    const page = await pageOf(found.applicationId, { ...query, after: `${found.deliveryId}~`, limit: 1 });
    return { rows: page.rows, next: undefined };
  }

  async function ofOne(query: Query, applicationId: string): Promise<Listed> {
    const { rows, next } = await pageOf(applicationId, query);
    return { rows, next: next && String(next.after) };
  }

  return {
    /** A page can be shorter than its limit, even empty, and still have a next one. */
    list(query: Query): Promise<Listed> {
      if (query.transactionId !== undefined) return ofTransaction(query, query.transactionId);
      if (query.applicationId !== undefined) return ofOne(query, query.applicationId);
      return query.status === 'pending' ? pending(query) : merged(query);
    },
  };
}

export type AllDeliveries = ReturnType<typeof createAllDeliveries>;
