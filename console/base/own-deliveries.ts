import { operation, type Page, readPage } from './requests.ts';
import type { DeliveryRow } from './rows.ts';
import { fromServiceTime } from './service-time.ts';
import { session } from './session.ts';

/**
 * Reads deliveries of the application. The API sends their times as local times of the service; the rows have them in
 * UTC, as those of the operator.
 */
export async function readOwnDeliveries(
  query: Record<string, string | number | undefined>,
  signal: AbortSignal,
): Promise<Page<DeliveryRow>> {
  const applicationId = session.peek()?.applicationId ?? '';
  const { rows, next } = await readPage<DeliveryRow>(operation('listDeliveries'), 'deliveries', { query, signal });
  return {
    rows: rows.map((row) => ({
      ...row,
      applicationId,
      createdAt: fromServiceTime(row.createdAt)!,
      nextAttemptAt: fromServiceTime(row.nextAttemptAt),
    })),
    next,
  };
}

/** Whether a delivery was given up, or waits for another attempt after one that failed. */
export const hasFailed = ({ status, attempts }: DeliveryRow): boolean =>
  status === 'exhausted' || status === 'gone' || (status === 'pending' && attempts > 0);
