import type { VNode } from '../base/elements.ts';
import type { Loading } from '../base/load.ts';
import { type Page, readPage, type ServiceRequest } from '../base/requests.ts';
import { csvButton, EXPORT_LIMIT } from './export.ts';
import { loaded } from './loaded.ts';
import { pager } from './pager.ts';
import { card, empty } from './show.ts';
import { type Column, rowsTable } from './table.ts';

interface List<Row> {
  title: string;
  /** The words for a list without rows. */
  none: string;
  page: Loading<Page<Row>>;
  /** The request of the page, which is repeated for the file of all rows. */
  request: ServiceRequest;
  query: Record<string, string | number | undefined>;
  columns: readonly Column<Row>[];
  csv: { name: string; columns: readonly (keyof Row & string)[] };
}

/** A card with a page of a list that has one row for each device, and the button that saves all rows as CSV. */
export const devicesCard = <Row extends { deviceId: string }>(list: List<Row>): VNode =>
  card(
    {
      title: list.title,
      bare: true,
      side: csvButton<Row>({
        ...list.csv,
        page: (after, signal) =>
          readPage(list.request, 'devices', { query: { ...list.query, after, limit: EXPORT_LIMIT }, signal }),
      }),
    },
    loaded(
      list.page,
      ({ rows, next }) =>
        rows.length === 0 && next === null
          ? empty({ title: list.none })
          : [
              rowsTable({ label: 'Devices', columns: list.columns, rows, keyOf: ({ deviceId }) => deviceId }),
              pager(next, rows.length),
            ],
      { lines: 10 },
    ),
  );
