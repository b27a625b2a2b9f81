import {
  type DeliveryListFilter,
  findApplicationsOf,
  findHeads,
  findOfTransaction,
  listDeliveries,
  listPendingOfAll,
} from '../core/webhooks/log/delivery-log-repository.ts';
import type { DeliverySummary } from '../core/webhooks/log/delivery-record.ts';
import type { NewestPage } from '../platform/database/newest-first.ts';
import type { Database } from '../platform/database/sql.ts';
import { type Page, pageOf } from '../runtime/page.ts';

interface Query extends DeliveryListFilter {
  applicationId?: string;
  after?: string;
  limit: number;
}

/** The most rows of one application that are read for one page of a list with a filter. */
const FILTERED = 2_000;
/** A text that sorts after every deliveryId. */
const LAST = 'msg_~';

/**
 * Lists the deliveries of all applications, newest first. The database has the deliveries of each application in order,
 * so these lists are merged: from the applications with the newest deliveries on, until the page is full. The queries
 * run on a thread of their own.
 */
export function createAllDeliveries({ database: { aside } }: { database: Pick<Database, 'aside'> }) {
  const ofApplication = (applicationId: string, query: Query): Promise<NewestPage<DeliverySummary>> => {
    const { applicationId: _of, ...filter } = query;
    // Without a filter, no more rows of an application are read than a page has.
    const { status, setting, deviceId, transactionId, limit } = query;
    const isAll = [status, setting, deviceId, transactionId].every((wanted) => wanted === undefined);
    return listDeliveries(aside, applicationId, { ...filter, offset: 0, mostExamined: isAll ? limit + 1 : FILTERED });
  };

  async function merged(query: Query): Promise<Page<DeliverySummary, string>> {
    const { after = LAST, limit } = query;
    let rows: DeliverySummary[] = [];
    /** The oldest deliveryId up to which all applications were read completely. The page ends with it. */
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
      // The newest deliveries of all further applications are older still.
      if (floor !== undefined && head < floor) break;
      const page = await ofApplication(applicationId, query);
      rows = [...rows, ...page.rows].sort((a, b) => (a.deliveryId < b.deliveryId ? 1 : -1));
      raise(page.next && String(page.next.after));
      if (rows.length > limit) raise(rows[limit - 1]?.deliveryId);
      const bound: string = floor ?? '';
      rows = rows.filter(({ deliveryId }) => deliveryId >= bound);
    }
    return { rows, next: floor };
  }

  async function pending(query: Query): Promise<Page<DeliverySummary, string>> {
    const { after = LAST, limit } = query;
    const found = await listPendingOfAll(aside, query, after, limit + 1);
    return pageOf(found, limit, (row) => row.deliveryId);
  }

  async function ofTransaction(query: Query, transactionId: number): Promise<Page<DeliverySummary, string>> {
    const found = await findOfTransaction(aside, transactionId);
    if (!found || (query.applicationId !== undefined && query.applicationId !== found.applicationId))
      return { rows: [], next: undefined };
    if (found.deliveryId === null) return ofOne(query, found.applicationId);
    const page = await ofApplication(found.applicationId, { ...query, after: `${found.deliveryId}~`, limit: 1 });
    return { rows: page.rows, next: undefined };
  }

  async function ofOne(query: Query, applicationId: string): Promise<Page<DeliverySummary, string>> {
    const { rows, next } = await ofApplication(applicationId, query);
    return { rows, next: next && String(next.after) };
  }

  return {
    /** Lists a page. It can be shorter than its limit, even empty, although there is a next page. */
    list(query: Query): Promise<Page<DeliverySummary, string>> {
      if (query.transactionId !== undefined) return ofTransaction(query, query.transactionId);
      if (query.applicationId !== undefined) return ofOne(query, query.applicationId);
      return query.status === 'pending' ? pending(query) : merged(query);
    },
  };
}

export type AllDeliveries = ReturnType<typeof createAllDeliveries>;
