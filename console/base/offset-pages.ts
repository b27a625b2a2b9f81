import { type Page, read, type ServiceRequest } from './requests.ts';

/** Rows in a request: the most that a list gives. */
const LIMIT = 1000;

/** Reads a page of a list whose pages begin at a number of rows, as if that number were a cursor. */
export async function pageFrom<Row>(
  request: ServiceRequest,
  member: string,
  after: string | undefined,
  signal: AbortSignal,
): Promise<Page<Row>> {
  const offset = Number(after ?? 0);
  const body = await read<Record<string, Row[]> & { total: number }>(request, {
    query: { offset, limit: LIMIT },
    signal,
  });
  const rows: Row[] = body[member] ?? [];
  const end = offset + rows.length;
  return { rows, next: rows.length > 0 && end < body.total ? String(end) : null };
}
