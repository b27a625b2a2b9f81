import type { InsideCall } from '../http/inside.ts';
import type { Place, Report } from './report.ts';
import type { Session } from './session.ts';

/** A page of a list of the API. */
export interface Page<Row> {
  rows: Row[];
  place: Place;
  /** The `after` of the next page; undefined for the last one. */
  next: string | undefined;
}

const NEXT = '>; rel="next"';

/** The target of the next page in a `Link` header of this service. */
const nextOf = (link = ''): string | undefined =>
  link.startsWith('<') && link.endsWith(NEXT) ? link.slice(1, -NEXT.length) : undefined;

/** Reads the page of a list that a cursor names; `list` is the member of the answer that has the rows. */
export async function readPage<Row>(
  session: Session,
  operation: string,
  { list, cursor, ...call }: InsideCall & { list: string; cursor: string | undefined },
): Promise<Page<Row>> {
  const place = session.placeOf(cursor);
  const answer = await session.call(operation, { ...call, query: { ...call.query, after: place.after } });
  if (answer.status >= 400) throw session.refused(answer);
  const target = nextOf(answer.headers['link']);
  const next = target === undefined ? undefined : URL.parse(target, 'http://here')?.searchParams.get('after');
  return { rows: (answer.body as Record<string, Row[]>)[list] ?? [], place, next: next ?? undefined };
}

/** Shows as many rows of a page as there is room for, and names the place behind the last one. */
export function showRows<Row>(report: Report, { rows, place, next }: Page<Row>, show: (row: Row) => string): void {
  const skip = place.skip ?? 0;
  for (const [at, row] of rows.entries()) {
    if (at < skip) continue;
    // A first row that has no room would never have any; it is left out and said.
    if (!report.row(show(row)) && at > skip) {
      report.more({ ...place, skip: at });
      return;
    }
  }
  if (next !== undefined) report.more({ after: next });
}
